// What a request that got no answer means.
#include <curl/curl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>

#include "http/client.h"

namespace hostler::http {
namespace {

/// No byte of the request has left.
bool was_not_sent(int code) {
  constexpr std::array kBefore{CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_CONNECT,
                               CURLE_SSL_CONNECT_ERROR,    CURLE_PEER_FAILED_VERIFICATION,
                               CURLE_SSL_CERTPROBLEM,      CURLE_SSL_CACERT_BADFILE,
                               CURLE_FAILED_INIT};
  return std::find(kBefore.begin(), kBefore.end(), code) != kBefore.end();
}

/// Why a unix socket cannot be opened, an errno, which libcurl does not say. 0: it can.
int connect_error(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return errno;
  const bool open = ::connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
  const int number = open ? 0 : errno;
  ::close(fd);
  return number;
}

}  // namespace

NoAnswer Client::failure(const Request& request, const Failed& failed) const {
  const std::string where = server_.socket.empty() ? server_.base : server_.socket;
  const bool sent = request.changes() && (failed.bytes_sent > 0 || !was_not_sent(failed.code));
  if (failed.code < 0 && failed.is_cancelled)
    return {HOSTLER_E_CANCELLED, request.method + " " + where + ": cancelled by the host", sent};
  if (failed.code < 0)
    return {HOSTLER_E_TRANSIENT, request.method + " " + where + ": libcurl cannot go on", sent};
  std::string why =
      !failed.why.empty() ? failed.why : curl_easy_strerror(static_cast<CURLcode>(failed.code));
  const auto because = [&](const std::string& hint) {
    return where + " does not answer (" + why + ")" + hint;
  };
  switch (failed.code) {
    case CURLE_OPERATION_TIMEDOUT:
      return {HOSTLER_E_TIMEOUT, because(""), sent};
    case CURLE_COULDNT_RESOLVE_HOST:
      return {HOSTLER_E_TRANSIENT, because(": " + server_.unknown_hint), false};
    case CURLE_PEER_FAILED_VERIFICATION:
      return {HOSTLER_E_AUTH,
              "the certificate of " + where + " is not " +
                  (server_.pin.empty() ? "trusted (" + why + "): " + server_.untrusted_hint
                                       : "the expected one: " + server_.other_pin_hint),
              false};
    case CURLE_SSL_CERTPROBLEM:
      return {HOSTLER_E_AUTH, "the client certificate or its key cannot be used: " + why, false};
    case CURLE_SSL_CACERT_BADFILE:
      if (server_.ca_file.empty())  // those of the machine
        return {HOSTLER_E_AUTH,
                "the certificate of " + where +
                    " cannot be checked, because this machine has no list of authorities: install "
                    "the package ca-certificates, or " +
                    server_.untrusted_hint,
                false};
      return {
          HOSTLER_E_INVALID,
          "the authorities in " + server_.ca_file + " cannot be read: " + server_.unreadable_hint,
          false};
    case CURLE_WRITE_ERROR:
      if (failed.lacks_memory)
        return {HOSTLER_E_TRANSIENT, where + ": there is no memory for its answer", sent};
      return {HOSTLER_E_TRANSIENT,
              because(": the answer has more than 64 MiB: " + server_.too_long_hint), sent};
    default:
      break;
  }
  if (!server_.socket.empty() && failed.code == CURLE_COULDNT_CONNECT) {
    const int number = connect_error(server_.socket);
    if (number != 0) why = std::generic_category().message(number);
    if (number == EACCES || number == EPERM || number == EAFNOSUPPORT)  // the last: the sandbox
      return {HOSTLER_E_AUTH, where + " may not be opened (" + why + "): " + server_.forbidden_hint,
              false};
  }
  return {HOSTLER_E_TRANSIENT, because(""), sent};
}

}  // namespace hostler::http
