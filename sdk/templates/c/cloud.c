#include "cloud.h"

#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { ANSWER_MAX = 1 << 28, STEP_MS = 100 };

hostler_status fail(hostler_op* op, hostler_status status, const char* format, ...) {
  char message[512];
  va_list words;
  va_start(words, format);
  const int n = vsnprintf(message, sizeof message, format, words);
  va_end(words);
  const size_t length = n < 0 ? 0 : (size_t)n < sizeof message ? (size_t)n : sizeof message - 1;
  op->error->set_text(op->error, HOSTLER_TEXT_MESSAGE, message, length);
  return status;
}

/* ---- settings: every error names the member, and none shows a credential ----------------------
 */

static hostler_status only_member(hostler_op* op, const char* what, hostler_str json,
                                  const char* name, struct json* out) {
  struct json rest = json_read(json.ptr, json.len), key, value;
  out->at = NULL;
  if (rest.at == NULL || *rest.at != '{')
    return fail(op, HOSTLER_E_INVALID, "%s must be a JSON object", what);
  while (json_next(&rest, &key, &value)) {
    if (!json_is(key, name))
      return fail(op, HOSTLER_E_INVALID, "%s: %.*s is unknown; needed: %s", what,
                  (int)(key.end - key.at > 100 ? 100 : key.end - key.at), key.at, name);
    *out = value;
  }
  if (out->at == NULL || *out->at != '"' || json_is(*out, ""))
    return fail(op, HOSTLER_E_INVALID, "%s.%s must be a text that is not empty", what, name);
  return HOSTLER_OK;
}

hostler_status cloud_settings(struct cloud* c, const hostler_set_config* config, hostler_op* op) {
  struct json endpoint, token;
  char buffer[300];
  struct json_texts room = {buffer, buffer + sizeof buffer};
  hostler_status status = only_member(op, "config", config->config_json, "endpoint", &endpoint);
  if (status != HOSTLER_OK) return status;
  const hostler_str at = json_text(endpoint, &room);
  const char* const colon = at.ptr == NULL ? NULL : strrchr(at.ptr, ':');
  const long port = colon == NULL ? 0 : strtol(colon + 1, NULL, 10);
  if (colon == NULL || colon == at.ptr || colon - at.ptr > 255 || port < 1 || port > 65535)
    return fail(op, HOSTLER_E_INVALID,
                "config.endpoint must be ADDRESS:PORT, such as 127.0.0.1:4000");
  memcpy(c->host, at.ptr, (size_t)(colon - at.ptr));
  (void)snprintf(c->port, sizeof c->port, "%ld", port);
  status = only_member(op, "credentials", config->credentials_json, "token", &token);
  if (status != HOSTLER_OK) return status;
  room = (struct json_texts){c->token, c->token + sizeof c->token};
  if (json_text(token, &room).ptr == NULL)
    return fail(op, HOSTLER_E_INVALID, "credentials.token is longer than 250 bytes");
  return HOSTLER_OK;
}

/* ---- the connection ---------------------------------------------------------------------------
 */

/* Waits until the socket is ready. A cancel is noticed within STEP_MS. */
static hostler_status wait_for(hostler_op* op, int fd, short events) {
  for (;;) {
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    const uint64_t now = (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
    if (op->deadline_mono_ns != 0 && now >= op->deadline_mono_ns)
      return fail(op, HOSTLER_E_TIMEOUT, "the cloud did not answer in time");
    if (op->is_cancelled(op)) return fail(op, HOSTLER_E_CANCELLED, "cancelled by the host");
    struct pollfd wanted = {.fd = fd, .events = events};
    if (poll(&wanted, 1, STEP_MS) > 0) return HOSTLER_OK;
  }
}

static hostler_status lost(hostler_op* op, const struct cloud* c, const char* what) {
  return fail(op, HOSTLER_E_TRANSIENT, "%s %s:%s: %s", what, c->host, c->port,
              errno == 0 ? "the connection was closed" : strerror(errno));
}

static hostler_status connect_to(const struct cloud* c, hostler_op* op, int* fd) {
  const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
  struct addrinfo* found = NULL;
  const int problem = getaddrinfo(c->host, c->port, &hints, &found);
  if (problem != 0)
    return fail(op, HOSTLER_E_TRANSIENT, "find %s: %s", c->host, gai_strerror(problem));
  *fd = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  const int begun = *fd < 0 ? -1 : connect(*fd, found->ai_addr, found->ai_addrlen);
  freeaddrinfo(found);
  if (*fd < 0 || (begun != 0 && errno != EINPROGRESS)) return lost(op, c, "connect to");
  const hostler_status status = wait_for(op, *fd, POLLOUT);
  socklen_t n = sizeof errno;
  if (status == HOSTLER_OK &&
      (getsockopt(*fd, SOL_SOCKET, SO_ERROR, &errno, &n) != 0 || errno != 0))
    return lost(op, c, "connect to");
  return status;
}

static hostler_status send_all(const struct cloud* c, hostler_op* op, int fd,
                               const struct text* t) {
  for (size_t sent = 0; sent < t->n;) {
    const ssize_t n = send(fd, t->at + sent, t->n - sent, MSG_NOSIGNAL);
    if (n > 0) {
      sent += (size_t)n;
    } else if (n < 0 && errno != EAGAIN && errno != EINTR) {
      return lost(op, c, "write to");
    } else {
      const hostler_status status = wait_for(op, fd, POLLOUT);
      if (status != HOSTLER_OK) return status;
    }
  }
  return HOSTLER_OK;
}

/* Reads one line. */
static hostler_status receive(const struct cloud* c, hostler_op* op, int fd, struct text* to) {
  char bytes[16384];
  for (;;) {
    const hostler_status status = wait_for(op, fd, POLLIN);
    if (status != HOSTLER_OK) return status;
    errno = 0;
    const ssize_t n = recv(fd, bytes, sizeof bytes, 0);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (n <= 0) return lost(op, c, "read from");
    text_add(to, bytes, (size_t)n);
    if (to->failed || to->n > ANSWER_MAX)
      return fail(op, HOSTLER_E_TRANSIENT, "the answer of the cloud is too large");
    if (bytes[n - 1] == '\n') return HOSTLER_OK;
  }
}

/* ---- a request and its answer -----------------------------------------------------------------
 */

/* The request may have been carried out. */
static hostler_status unknown_outcome(hostler_op* op, hostler_status status) {
  op->error->flags |= HOSTLER_EF_OUTCOME_UNKNOWN;
  return status;
}

static hostler_status understand(hostler_op* op, struct answer* a) {
  static const struct {
    const char* error;
    hostler_status status;
  } kMeanings[] = {{"unauthorized", HOSTLER_E_AUTH},
                   {"invalid", HOSTLER_E_INVALID},
                   {"not_found", HOSTLER_E_NOT_FOUND},
                   {"conflict", HOSTLER_E_CONFLICT},
                   {"limit", HOSTLER_E_QUOTA}};
  a->value = json_read(a->bytes.at, a->bytes.n);
  a->texts = malloc(2 * a->bytes.n);
  if (a->texts == NULL) return unknown_outcome(op, fail(op, HOSTLER_E_INTERNAL, "out of memory"));
  a->room = (struct json_texts){a->texts, a->texts + 2 * a->bytes.n};
  const struct json ok = json_member(a->value, "ok");
  if (json_is(ok, "true")) return HOSTLER_OK;
  if (!json_is(ok, "false"))
    return unknown_outcome(
        op, fail(op, HOSTLER_E_TRANSIENT,
                 "the cloud's answer cannot be read: a JSON object with \"ok\" is needed"));
  const struct json error = json_member(a->value, "error");
  const hostler_str message = json_text(json_member(a->value, "message"), &a->room);
  hostler_status status = HOSTLER_E_TRANSIENT;
  for (size_t i = 0; i < sizeof kMeanings / sizeof *kMeanings; ++i)
    if (json_is(error, kMeanings[i].error)) status = kMeanings[i].status;
  const hostler_str code = json_text(error, &a->room);
  if (code.ptr != NULL)
    op->error->set_text(op->error, HOSTLER_TEXT_PROVIDER_CODE, code.ptr, code.len);
  return fail(op, status, "the cloud refused: %s", message.ptr == NULL ? "" : message.ptr);
}

hostler_status cloud_ask(const struct cloud* c, hostler_op* op, struct text* request,
                         struct answer* answer) {
  memset(answer, 0, sizeof *answer);
  text_put(request, ",\"token\":");
  text_quote(request, (hostler_str){c->token, strlen(c->token)});
  text_put(request, "}\n");
  int fd = -1;
  hostler_status status =
      request->failed ? fail(op, HOSTLER_E_INTERNAL, "out of memory") : connect_to(c, op, &fd);
  if (status == HOSTLER_OK) {
    status = send_all(c, op, fd, request);
    if (status == HOSTLER_OK) status = receive(c, op, fd, &answer->bytes);
    /* From the first byte on. */
    if (status != HOSTLER_OK) (void)unknown_outcome(op, status);
  }
  if (fd >= 0) (void)close(fd);
  free(request->at);
  *request = (struct text){0};
  return status == HOSTLER_OK ? understand(op, answer) : status;
}

void answer_free(struct answer* a) {
  free(a->bytes.at);
  free(a->texts);
}
