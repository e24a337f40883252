#include "json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH_MAX = 32 };

static const char* spaces(const char* p, const char* end) {
  while (p < end && (*p == ' ' || *p == '\t' || *p == '\n' || *p == '\r')) ++p;
  return p;
}

static int hex(const char* p, const char* end) {
  int value = 0;
  if (end - p < 4) return -1;
  for (int i = 0; i < 4; ++i) {
    const char c = p[i];
    const int digit = c >= '0' && c <= '9'   ? c - '0'
                      : c >= 'a' && c <= 'f' ? c - 'a' + 10
                      : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                             : -1;
    if (digit < 0) return -1;
    value = value * 16 + digit;
  }
  return value;
}

/* Each of these returns the end of what begins at p, or NULL if that is no JSON. */
static const char* skip_text(const char* p, const char* end) {
  for (++p; p < end && *p != '"'; ++p) {
    if ((unsigned char)*p < 0x20) return NULL;
    if (*p != '\\') continue;
    if (++p == end || strchr("\"\\/bfnrtu", *p) == NULL) return NULL;
    if (*p == 'u' && hex(p + 1, end) <= 0) return NULL; /* NUL is in no text of hostler */
  }
  return p < end ? p + 1 : NULL;
}

static const char* skip_word(const char* p, const char* end) {
  const char* const from = p;
  while (p < end && strchr("+-.0123456789Eabcdefghijklmnopqrstuvwxyz", *p) != NULL && *p != 0) ++p;
  const size_t n = (size_t)(p - from);
  const int is_word = (n == 4 && (memcmp(from, "true", 4) == 0 || memcmp(from, "null", 4) == 0)) ||
                      (n == 5 && memcmp(from, "false", 5) == 0);
  if (is_word) return p;
  if (n == 0 || n > 40 || (*from != '-' && (*from < '0' || *from > '9'))) return NULL;
  char copy[41], *rest = NULL;
  memcpy(copy, from, n);
  copy[n] = 0;
  (void)strtod(copy, &rest);
  return *rest == 0 ? p : NULL;
}

static const char* skip(const char* p, const char* end, int depth) {
  if (p == NULL || p == end || depth == DEPTH_MAX) return NULL;
  if (*p == '"') return skip_text(p, end);
  if (*p != '{' && *p != '[') return skip_word(p, end);
  const int is_object = *p == '{';
  const char close = is_object ? '}' : ']';
  p = spaces(p + 1, end);
  if (p < end && *p == close) return p + 1;
  for (;;) {
    if (is_object) {
      if (p == end || *p != '"' || (p = skip_text(p, end)) == NULL) return NULL;
      p = spaces(p, end);
      if (p == end || *p != ':') return NULL;
      p = spaces(p + 1, end);
    }
    if ((p = skip(p, end, depth + 1)) == NULL) return NULL;
    p = spaces(p, end);
    if (p == end || (*p != ',' && *p != close)) return NULL;
    if (*p == close) return p + 1;
    p = spaces(p + 1, end);
  }
}

struct json json_read(const char* text, size_t n) {
  const struct json none = {NULL, NULL};
  if (n == 0) return none;
  const char *end = text + n, *from = spaces(text, end), *to = skip(from, end, 0);
  if (to == NULL || spaces(to, end) != end) return none;
  return (struct json){from, to};
}

int json_next(struct json* rest, struct json* name, struct json* value) {
  if (rest->at == NULL || rest->at == rest->end) return 0;
  const int is_object = rest->end[-1] == '}';
  const char* p = spaces(rest->at + 1, rest->end); /* after the bracket or a comma */
  if (p >= rest->end - 1) return 0;
  if (is_object) {
    name->at = p;
    name->end = skip_text(p, rest->end);
    p = spaces(name->end, rest->end);
    p = spaces(p + 1, rest->end);
  }
  value->at = p;
  value->end = skip(p, rest->end, 0);
  rest->at = spaces(value->end, rest->end);
  if (*rest->at != ',') rest->at = rest->end;
  return 1;
}

struct json json_member(struct json object, const char* name) {
  struct json found = {NULL, NULL}, key, value;
  if (object.at == NULL || *object.at != '{') return found;
  while (json_next(&object, &key, &value)) {
    if (json_is(key, name)) found = value;
  }
  return found;
}

int json_is(struct json value, const char* word) {
  if (value.at == NULL) return 0;
  const int quoted = *value.at == '"';
  const size_t n = (size_t)(value.end - value.at) - (quoted ? 2 : 0);
  return n == strlen(word) && memcmp(value.at + quoted, word, n) == 0;
}

static size_t utf8(unsigned code, char* to) {
  if (code < 0x80) return to[0] = (char)code, 1;
  if (code < 0x800) return to[0] = (char)(0xC0 | code >> 6), to[1] = (char)(0x80 | (code & 63)), 2;
  const size_t first = code < 0x10000 ? 0 : 1;
  if (first == 1) {
    to[0] = (char)(0xF0 | code >> 18);
    to[1] = (char)(0x80 | (code >> 12 & 63));
  } else {
    to[0] = (char)(0xE0 | code >> 12);
  }
  to[first + 1] = (char)(0x80 | (code >> 6 & 63));
  to[first + 2] = (char)(0x80 | (code & 63));
  return first + 3;
}

/* One escape, at the letter behind its backslash. Returns its last byte. */
static const char* unescape(const char* p, const char* end, struct json_texts* to) {
  static const char kLetters[] = "\"\\/bfnrt", kBytes[] = "\"\\/\b\f\n\r\t";
  if (*p != 'u') {
    *to->at++ = kBytes[strchr(kLetters, *p) - kLetters];
    return p;
  }
  unsigned code = (unsigned)hex(p + 1, end);
  p += 4;
  if (code >= 0xD800 && code < 0xDC00 && end - p > 6 && p[1] == '\\' && p[2] == 'u') {
    const unsigned low = (unsigned)hex(p + 3, end);
    if (low >= 0xDC00 && low < 0xE000) {
      code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
      p += 6;
    }
  }
  if (code >= 0xD800 && code < 0xE000) code = 0xFFFD; /* half of a pair */
  to->at += utf8(code, to->at);
  return p;
}

hostler_str json_text(struct json value, struct json_texts* to) {
  const hostler_str none = {NULL, 0};
  if (value.at == NULL || *value.at != '"' || to->end - to->at < value.end - value.at) return none;
  char* const from = to->at;
  for (const char* p = value.at + 1; p < value.end - 1; ++p) {
    if (*p == '\\')
      p = unescape(p + 1, value.end, to);
    else
      *to->at++ = *p;
  }
  *to->at = 0; /* the quotes have left room for it */
  return (hostler_str){from, (size_t)(to->at++ - from)};
}

int64_t json_number(struct json value) {
  if (value.at == NULL || value.end - value.at > 15) return -1;
  int64_t out = 0;
  for (const char* p = value.at; p < value.end; ++p) {
    if (*p < '0' || *p > '9') return -1;
    out = out * 10 + (*p - '0');
  }
  return out;
}

void text_add(struct text* t, const char* bytes, size_t n) {
  if (t->failed || n == 0) return;
  if (t->room - t->n < n) {
    const size_t room = 2 * (t->room + n) + 256;
    char* const more = realloc(t->at, room);
    if (more == NULL) {
      t->failed = 1;
      return;
    }
    t->at = more;
    t->room = room;
  }
  memcpy(t->at + t->n, bytes, n);
  t->n += n;
}

void text_put(struct text* t, const char* literal) { text_add(t, literal, strlen(literal)); }

void text_quote(struct text* t, hostler_str s) {
  text_put(t, "\"");
  for (size_t i = 0; i < s.len; ++i) {
    char escaped[8];
    const unsigned char c = (unsigned char)s.ptr[i];
    if (c >= 0x20 && c != '"' && c != '\\') {
      text_add(t, s.ptr + i, 1);
    } else {
      (void)snprintf(escaped, sizeof escaped, "\\u%04x", (unsigned)c);
      text_put(t, escaped);
    }
  }
  text_put(t, "\"");
}
