/* Machines for tests of a driver, by a library call: one function that asks a keeper of
 * hostler-hosts.
 *
 * The operations and the members of requests and answers are in the README.md of hostler-hosts.
 * This header is for tests and for drivers that are tests; hostlerd does not use it. It needs
 * nothing but libc, and may be called by several threads at once. */
#ifndef HOSTLER_HOSTS_H
#define HOSTLER_HOSTS_H

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <unistd.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What hostler_hosts_call returns. */
#define HOSTLER_HOSTS_OK 0
#define HOSTLER_HOSTS_ENDPOINT 1 /* The endpoint is not "A.B.C.D:PORT". */
#define HOSTLER_HOSTS_CONNECT 2  /* No keeper listens there. Nothing was done. */
#define HOSTLER_HOSTS_LOST 3 /* The connection ended before the answer: it may have been done. */
#define HOSTLER_HOSTS_TOO_LONG 4 /* The answer is longer than allowed; it has been done. */
#define HOSTLER_HOSTS_MEMORY 5   /* There is no memory; it may have been done. */

/* A text for a status, for messages. It is static. */
static inline const char* hostler_hosts_text(int status) {
  switch (status) {
    case HOSTLER_HOSTS_OK:
      return "ok";
    case HOSTLER_HOSTS_ENDPOINT:
      return "the endpoint is not an IPv4 address and a port";
    case HOSTLER_HOSTS_CONNECT:
      return "nothing listens there";
    case HOSTLER_HOSTS_LOST:
      return "the connection ended before the answer";
    case HOSTLER_HOSTS_TOO_LONG:
      return "the answer is too long";
    default:
      return "there is no memory left";
  }
}

/* "A.B.C.D:PORT" as an address. 0 if it is none. */
static inline int hostler_hosts_address(const char* endpoint, struct sockaddr_in* address) {
  char host[16];
  const char* colon = strchr(endpoint, ':');
  size_t length = colon == NULL ? 0 : (size_t)(colon - endpoint);
  long port = 0;
  if (length == 0 || length >= sizeof host) return 0;
  memcpy(host, endpoint, length);
  host[length] = '\0';
  port = strtol(colon + 1, NULL, 10);
  if (port < 1 || port > 65535) return 0;
  memset(address, 0, sizeof *address);
  address->sin_family = AF_INET;
  address->sin_port = htons((unsigned short)port);
  return inet_pton(AF_INET, host, &address->sin_addr) == 1;
}

static inline int hostler_hosts_send(int fd, const char* text, size_t size) {
  while (size > 0) {
    ssize_t count = send(fd, text, size, MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return 0;
    text += count;
    size -= (size_t)count;
  }
  return 1;
}

/* Reads up to the end of the line, which becomes the end of the text. */
static inline int hostler_hosts_receive(int fd, size_t max, char** answer) {
  size_t size = 0;
  size_t room = 4096;
  char* text = (char*)malloc(room);
  if (text == NULL) return HOSTLER_HOSTS_MEMORY;
  for (;;) {
    char* end = NULL;
    ssize_t count = recv(fd, text + size, room - size, 0);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) {
      free(text);
      return HOSTLER_HOSTS_LOST;
    }
    end = (char*)memchr(text + size, '\n', (size_t)count);
    size += (size_t)count;
    if (end != NULL) {
      *end = '\0';
      *answer = text;
      return HOSTLER_HOSTS_OK;
    }
    if (size < room) continue;
    if (room >= max) {
      free(text);
      return HOSTLER_HOSTS_TOO_LONG;
    }
    room *= 2;
    end = (char*)realloc(text, room);
    if (end == NULL) {
      free(text);
      return HOSTLER_HOSTS_MEMORY;
    }
    text = end;
  }
}

/* Asks the keeper at `endpoint` ("127.0.0.1:PORT") one thing, and waits for its answer. `request`
 * is a JSON object in one line, without its end. With HOSTLER_HOSTS_OK `*answer` is the answer, a
 * JSON object in one line without its end, which the caller frees with free(); else it is not
 * touched. `answer_max` is about how many bytes an answer may have. A create whose answer is lost
 * is made again with the same `key`. */
static inline int hostler_hosts_call(const char* endpoint, const char* request, size_t answer_max,
                                     char** answer) {
  struct sockaddr_in address;
  int status = HOSTLER_HOSTS_CONNECT;
  int fd = -1;
  if (!hostler_hosts_address(endpoint, &address)) return HOSTLER_HOSTS_ENDPOINT;
  fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return HOSTLER_HOSTS_CONNECT;
  if (connect(fd, (const struct sockaddr*)&address, sizeof address) == 0) {
    status = HOSTLER_HOSTS_LOST;
    if (hostler_hosts_send(fd, request, strlen(request)) && hostler_hosts_send(fd, "\n", 1))
      status = hostler_hosts_receive(fd, answer_max, answer);
  }
  close(fd);
  return status;
}

#ifdef __cplusplus
}
#endif

#endif /* HOSTLER_HOSTS_H */
