//! JSON as a small driver needs it: a reader that checks the whole text, and a writer of texts.
//! Take serde_json instead where your build may have crates.

#[derive(Debug, Clone, PartialEq)]
pub enum Json {
    Word(String), // true, false, null, or a number, as it stands
    Text(String),
    Array(Vec<Json>),
    Object(Vec<(String, Json)>),
}

static NOTHING: Json = Json::Word(String::new());

impl Json {
    /// The member of an object; an empty word if there is none.
    pub fn get(&self, name: &str) -> &Json {
        match self {
            Json::Object(members) => members
                .iter()
                .find(|(key, _)| key == name)
                .map_or(&NOTHING, |(_, value)| value),
            _ => &NOTHING,
        }
    }
    /// The text or word; empty for null and all others.
    pub fn text(&self) -> &str {
        match self {
            Json::Word(word) if word == "null" => "",
            Json::Word(text) | Json::Text(text) => text,
            _ => "",
        }
    }
    /// None if that is no JSON, or nests deeper than 32.
    pub fn read(text: &str) -> Option<Json> {
        let mut reader = Reader {
            bytes: text.as_bytes(),
            at: 0,
        };
        let out = reader.value(0)?;
        reader.spaces();
        (reader.at == text.len()).then(|| out)
    }
    /// As a JSON text.
    pub fn quote(text: &str) -> String {
        let mut out = String::from("\"");
        for c in text.chars() {
            if c < ' ' || c == '"' || c == '\\' {
                out += &format!("\\u{:04x}", c as u32);
            } else {
                out.push(c);
            }
        }
        out + "\""
    }
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    fn spaces(&mut self) {
        while matches!(self.bytes.get(self.at), Some(b' ' | b'\t' | b'\r' | b'\n')) {
            self.at += 1;
        }
    }
    fn take(&mut self, wanted: u8) -> bool {
        self.spaces();
        let is = self.bytes.get(self.at) == Some(&wanted);
        self.at += is as usize;
        is
    }

    fn value(&mut self, depth: u32) -> Option<Json> {
        if depth == 32 {
            return None;
        }
        if self.take(b'{') {
            return self
                .members(b'}', |r| {
                    r.spaces();
                    let key = r.text()?;
                    r.take(b':').then(|| ())?;
                    Some((key, r.value(depth + 1)?))
                })
                .map(Json::Object);
        }
        if self.take(b'[') {
            return self.members(b']', |r| r.value(depth + 1)).map(Json::Array);
        }
        if self.bytes.get(self.at) == Some(&b'"') {
            return self.text().map(Json::Text);
        }
        self.word()
    }

    fn members<T>(&mut self, close: u8, one: impl Fn(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let mut out = Vec::new();
        if self.take(close) {
            return Some(out);
        }
        loop {
            out.push(one(self)?);
            if self.take(close) {
                return Some(out);
            }
            self.take(b',').then(|| ())?;
        }
    }

    fn word(&mut self) -> Option<Json> {
        let rest = &self.bytes[self.at..];
        let n = rest
            .iter()
            .position(|c| !b"+-.E".contains(c) && !c.is_ascii_digit() && !c.is_ascii_lowercase());
        let word = std::str::from_utf8(&rest[..n.unwrap_or(rest.len())]).ok()?;
        let is_number = word.starts_with(|c: char| c == '-' || c.is_ascii_digit())
            && word.parse::<f64>().is_ok();
        if !is_number && !["true", "false", "null"].contains(&word) {
            return None;
        }
        self.at += word.len();
        Some(Json::Word(word.to_string()))
    }

    fn hex(&mut self) -> Option<u32> {
        let digits = std::str::from_utf8(self.bytes.get(self.at..self.at + 4)?).ok()?;
        self.at += 4;
        digits.bytes().all(|c| c.is_ascii_hexdigit()).then(|| ())?;
        u32::from_str_radix(digits, 16).ok()
    }

    fn escape(&mut self) -> Option<char> {
        let letter = *self.bytes.get(self.at)?;
        self.at += 1;
        if letter != b'u' {
            let known = br#""\/bfnrt"#.iter().position(|c| *c == letter)?;
            return Some(b"\"\\/\x08\x0c\n\r\t"[known] as char);
        }
        let mut code = self.hex()?;
        if (0xD800..0xDC00).contains(&code) && self.bytes[self.at..].starts_with(b"\\u") {
            self.at += 2;
            let low = self.hex()?.checked_sub(0xDC00).filter(|low| *low < 0x400)?;
            code = 0x10000 + ((code - 0xD800) << 10) + low;
        }
        // NUL is in no text of hostler; half of a pair is no character.
        Some(char::from_u32(code).unwrap_or('\u{FFFD}')).filter(|c| *c != '\0')
    }

    fn text(&mut self) -> Option<String> {
        self.take(b'"').then(|| ())?;
        let mut out = Vec::new();
        loop {
            let c = *self.bytes.get(self.at)?;
            self.at += 1;
            match c {
                b'"' => return String::from_utf8(out).ok(),
                b'\\' => out.extend_from_slice(self.escape()?.encode_utf8(&mut [0; 4]).as_bytes()),
                0..=0x1F => return None,
                _ => out.push(c),
            }
        }
    }
}
