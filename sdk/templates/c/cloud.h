/* REPLACE THIS: the client of your cloud. Here it is that of `hostler-hosts`, machines for tests: a
 * request is a line of JSON on a TCP connection, and so is the answer. */
#ifndef CLOUD_H
#define CLOUD_H

#include "json.h"

struct cloud {
  char host[256], port[8];
  char token[256]; /* SECRET */
};

/* Reads "endpoint" of the config and "token" of the credentials. */
hostler_status cloud_settings(struct cloud* c, const hostler_set_config* config, hostler_op* op);

struct answer {
  struct text bytes;
  char* texts;            /* the memory of `room` */
  struct json_texts room; /* for the texts of the answer */
  struct json value;
};

/* Adds the token to `request`, which begins with `{"op":...` and lacks its last brace, sends it,
 * and waits for the answer until the deadline or a cancel. Frees the request. If the answer is a
 * refusal, its status. Free the answer, whatever this returns. */
hostler_status cloud_ask(const struct cloud* c, hostler_op* op, struct text* request,
                         struct answer* answer);
void answer_free(struct answer* a);

/* Fills in op->error and returns `status`. */
hostler_status fail(hostler_op* op, hostler_status status, const char* format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
