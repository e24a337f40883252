#include "json.hpp"

#include <array>
#include <cstdio>
#include <cstdlib>

namespace {

class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}

  bool value(Json& out, int depth) {
    constexpr int kDepthMax = 32;
    spaces();
    if (bytes_.empty() || depth == kDepthMax) return false;
    if (bytes_[0] == '"') return out.kind = Json::Kind::kText, text(out.text);
    if (bytes_[0] == '{') return container(out, Json::Kind::kObject, '}', depth);
    if (bytes_[0] == '[') return container(out, Json::Kind::kArray, ']', depth);
    return word(out);
  }
  bool at_end() {
    spaces();
    return bytes_.empty();
  }

 private:
  void spaces() {
    const auto next = bytes_.find_first_not_of(" \t\r\n");
    bytes_.remove_prefix(next == std::string_view::npos ? bytes_.size() : next);
  }
  bool take(char c) {
    spaces();
    if (bytes_.empty() || bytes_[0] != c) return false;
    bytes_.remove_prefix(1);
    return true;
  }

  bool container(Json& out, Json::Kind kind, char close, int depth) {
    out.kind = kind;
    bytes_.remove_prefix(1);
    if (take(close)) return true;
    do {
      auto& [name, one] = out.members.emplace_back();
      spaces();
      if (kind == Json::Kind::kObject && (!text(name) || !take(':'))) return false;
      if (!value(one, depth + 1)) return false;
    } while (take(','));
    return take(close);
  }

  bool word(Json& out) {
    constexpr std::size_t kNumberMax = 40;
    const auto end = bytes_.find_first_not_of("+-.0123456789Eabcdefghijklmnopqrstuvwxyz");
    out.text = bytes_.substr(0, end);
    bytes_.remove_prefix(out.text.size());
    out.kind = Json::Kind::kWord;
    if (out.text == "true" || out.text == "false" || out.text == "null") return true;
    out.kind = Json::Kind::kNumber;
    if (out.text.empty() || out.text.size() > kNumberMax) return false;
    if (out.text[0] != '-' && (out.text[0] < '0' || out.text[0] > '9')) return false;
    char* rest = nullptr;
    (void)std::strtod(out.text.c_str(), &rest);
    return *rest == '\0';
  }

  std::optional<unsigned> hex() {
    if (bytes_.size() < 4) return std::nullopt;
    unsigned out = 0;
    for (const char c : bytes_.substr(0, 4)) {
      const auto digit = std::string_view("0123456789abcdef").find(static_cast<char>(c | 0x20));
      if (digit == std::string_view::npos) return std::nullopt;
      out = out * 16 + static_cast<unsigned>(digit);
    }
    bytes_.remove_prefix(4);
    return out;
  }

  static void add(std::string& out, unsigned code) {
    const auto byte = [&](unsigned bits) { out += static_cast<char>(bits); };
    if (code < 0x80) return byte(code);
    if (code < 0x800) {
      byte(0xC0 | code >> 6);
    } else {
      if (code < 0x10000) {
        byte(0xE0 | code >> 12);
      } else {
        byte(0xF0 | code >> 18);
        byte(0x80 | (code >> 12 & 63));
      }
      byte(0x80 | (code >> 6 & 63));
    }
    byte(0x80 | (code & 63));
  }

  bool escape(std::string& out) {
    if (bytes_.empty()) return false;
    const char letter = bytes_[0];
    bytes_.remove_prefix(1);
    constexpr std::string_view kLetters = "\"\\/bfnrt", kBytes = "\"\\/\b\f\n\r\t";
    if (const auto at = kLetters.find(letter); at != std::string_view::npos)
      return out += kBytes[at], true;
    auto code = letter == 'u' ? hex() : std::nullopt;
    if (!code || *code == 0) return false;  // NUL is in no text of hostler
    if (*code >= 0xD800 && *code < 0xDC00 && bytes_.substr(0, 2) == "\\u") {
      bytes_.remove_prefix(2);
      const auto low = hex();
      if (!low || *low < 0xDC00 || *low > 0xDFFF) return false;
      code = 0x10000 + ((*code - 0xD800) << 10) + (*low - 0xDC00);
    }
    add(out, *code >= 0xD800 && *code < 0xE000 ? 0xFFFD : *code);
    return true;
  }

  bool text(std::string& out) {
    if (bytes_.empty() || bytes_[0] != '"') return false;
    bytes_.remove_prefix(1);
    while (!bytes_.empty()) {
      const char c = bytes_[0];
      if (static_cast<unsigned char>(c) < 0x20) return false;
      bytes_.remove_prefix(1);
      if (c == '"') return true;
      if (c != '\\')
        out += c;
      else if (!escape(out))
        return false;
    }
    return false;
  }

  std::string_view bytes_;
};

}  // namespace

std::optional<Json> Json::read(std::string_view bytes) {
  Reader reader(bytes);
  Json out;
  if (!reader.value(out, 0) || !reader.at_end()) return std::nullopt;
  return out;
}

const Json& Json::operator[](std::string_view name) const {
  static const Json kNothing;
  for (const auto& [key, value] : members)
    if (key == name) return value;
  return kNothing;
}

std::int64_t Json::number() const {
  constexpr std::size_t kDigitsMax = 15;
  if (kind != Kind::kNumber || text.size() > kDigitsMax) return 0;
  if (text.find_first_not_of("0123456789") != std::string::npos) return 0;
  return std::stoll(text);
}

std::string Json::quote(std::string_view bytes) {
  std::string out = "\"";
  for (const char c : bytes) {
    std::array<char, 8> escaped{};
    if (static_cast<unsigned char>(c) >= 0x20 && c != '"' && c != '\\') {
      out += c;
    } else {
      (void)std::snprintf(escaped.data(), escaped.size(), "\\u%04x",
                          static_cast<unsigned>(static_cast<unsigned char>(c)));
      out += escaped.data();
    }
  }
  return out + '"';
}
