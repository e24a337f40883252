/* JSON as a small driver needs it: a reader that checks the whole text first, and a writer. Take a
 * library instead where you have one: jansson and cJSON are in Debian. */
#ifndef JSON_H
#define JSON_H

#include <hostler/driver.h>

/* A value as it stands in the text, which must outlive it; `at` is NULL where there is none. */
struct json {
  const char *at, *end;
};

/* The one value that the text is. `at` is NULL if it is no JSON, or nests deeper than 32. */
struct json json_read(const char* text, size_t n);
/* The member of an object. */
struct json json_member(struct json object, const char* name);
/* Walks through an array or object: `rest` begins as a copy of it. Returns 0 at the end. `name` is
 * that of a member, as a JSON text. */
int json_next(struct json* rest, struct json* name, struct json* value);
int json_is(struct json value, const char* word); /* the word, or a text of these letters */

/* Where texts without their escapes are kept. */
struct json_texts {
  char *at, *end;
};
/* The text, without escapes; {NULL, 0} if it is none, or `to` is full. */
hostler_str json_text(struct json value, struct json_texts* to);
/* A whole number of at least 0; -1 if it is none. */
int64_t json_number(struct json value);

/* A text that grows. `failed` is set when there is no memory. */
struct text {
  char* at;
  size_t n, room;
  int failed;
};
void text_add(struct text* t, const char* bytes, size_t n);
void text_put(struct text* t, const char* literal);
void text_quote(struct text* t, hostler_str s); /* as a JSON text */

#endif
