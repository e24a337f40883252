#include "cloud.hpp"

#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <hostler/json_object.hpp>
#include <utility>

namespace {

using hostler::driver::Error;
using hostler::driver::JsonObject;
using hostler::driver::read_credentials_object;
using hostler::driver::refuse_credentials;
using hostler::driver::view;

constexpr std::size_t kAnswerMax = std::size_t{1} << 28;
constexpr int kStepMs = 100;

// ---- the connection

struct Socket {
  int fd = -1;
  Socket() = default;
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  ~Socket() {
    if (fd >= 0) (void)::close(fd);
  }

  // Waits until it is ready. A cancel is noticed within kStepMs.
  void wait(hostler_op* op, short events) const {
    for (;;) {
      const auto now = std::chrono::steady_clock::now().time_since_epoch();  // CLOCK_MONOTONIC
      if (op->deadline_mono_ns != 0 && now >= std::chrono::nanoseconds(op->deadline_mono_ns))
        throw Error(HOSTLER_E_TIMEOUT, "the cloud did not answer in time");
      hostler::driver::check_cancelled(op);
      pollfd wanted{fd, events, 0};
      if (::poll(&wanted, 1, kStepMs) > 0) return;
    }
  }
};

Error lost(const std::string& what, int problem) {
  return Error(HOSTLER_E_TRANSIENT,
               what + ": " + (problem == 0 ? "the connection was closed" : std::strerror(problem)));
}

void connect_to(const std::string& host, const std::string& port, Socket& to, hostler_op* op) {
  const std::string what = "connect to " + host + ":" + port;
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (const int problem = ::getaddrinfo(host.c_str(), port.c_str(), &hints, &found); problem != 0)
    throw Error(HOSTLER_E_TRANSIENT, "find " + host + ": " + ::gai_strerror(problem));
  to.fd = ::socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  const int begun = to.fd < 0 ? -1 : ::connect(to.fd, found->ai_addr, found->ai_addrlen);
  const int error = errno;
  ::freeaddrinfo(found);
  if (to.fd < 0 || (begun != 0 && error != EINPROGRESS)) throw lost(what, error);
  to.wait(op, POLLOUT);
  int problem = 0;
  socklen_t n = sizeof problem;
  if (::getsockopt(to.fd, SOL_SOCKET, SO_ERROR, &problem, &n) != 0 || problem != 0)
    throw lost(what, problem);
}

void send_all(const Socket& to, std::string_view bytes, hostler_op* op) {
  while (!bytes.empty()) {
    const auto n = ::send(to.fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (n < 0 && errno != EAGAIN && errno != EINTR) throw lost("write to the cloud", errno);
    if (n > 0)
      bytes.remove_prefix(static_cast<std::size_t>(n));
    else
      to.wait(op, POLLOUT);
  }
}

std::string receive_line(const Socket& from, hostler_op* op) {
  std::array<char, 16384> bytes{};
  for (std::string out;;) {
    from.wait(op, POLLIN);
    const auto n = ::recv(from.fd, bytes.data(), bytes.size(), 0);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (n <= 0) throw lost("read from the cloud", n == 0 ? 0 : errno);
    out.append(bytes.data(), static_cast<std::size_t>(n));
    if (out.size() > kAnswerMax) throw Error(HOSTLER_E_TRANSIENT, "the answer is too large");
    if (out.back() == '\n') return out;
  }
}

// ---- what the cloud means

Json understand(const std::string& line) {
  auto answer = Json::read(line);
  if (answer && (*answer)["ok"].is("true")) return *std::move(answer);
  if (!answer || !(*answer)["ok"].is("false"))
    throw Error(HOSTLER_E_TRANSIENT,
                "the cloud's answer cannot be read: a JSON object with \"ok\" is needed")
        .outcome_unknown();
  constexpr std::array<std::pair<std::string_view, hostler_status>, 5> kMeanings{
      {{"unauthorized", HOSTLER_E_AUTH},
       {"invalid", HOSTLER_E_INVALID},
       {"not_found", HOSTLER_E_NOT_FOUND},
       {"conflict", HOSTLER_E_CONFLICT},
       {"limit", HOSTLER_E_QUOTA}}};
  const auto& code = (*answer)["error"];
  hostler_status status = HOSTLER_E_TRANSIENT;
  for (const auto& [word, meaning] : kMeanings)
    if (code.is(word)) status = meaning;
  throw Error(status, "the cloud refused: " + (*answer)["message"].text).provider(code.text);
}

}  // namespace

// Every error names the member, and none shows a credential.
Cloud::Cloud(const hostler_set_config& config) {
  rapidjson::Document document;
  auto settings = JsonObject::parse(std::string(view(config.config_json)), document);
  const std::string at = settings.text("endpoint", "");
  settings.refuse_unknown_keys();
  const auto take = [&](const std::string& name, const rapidjson::Value& value) {
    if (name != "token") refuse_credentials(name.substr(0, 100) + " is unknown; needed: token");
    if (value.IsString()) token_ = value.GetString();
  };
  read_credentials_object(std::string(view(config.credentials_json)), take);
  if (token_.empty()) refuse_credentials("token must be a text that is not empty");
  const auto colon = at.rfind(':');
  const long port = colon == std::string::npos ? 0 : std::atol(at.c_str() + colon + 1);
  if (port < 1 || port > 65535 || colon == 0)
    settings.refuse("endpoint", "must be ADDRESS:PORT, such as 127.0.0.1:4000");
  host_ = at.substr(0, colon);
  port_ = std::to_string(port);
}

Json Cloud::ask(hostler_op* op, const std::string& what, const std::string& members) const {
  Socket socket;
  connect_to(host_, port_, socket, op);
  std::string line;
  try {
    send_all(
        socket,
        R"({"op":)" + Json::quote(what) + R"(,"token":)" + Json::quote(token_) + members + "}\n",
        op);
    line = receive_line(socket, op);
  } catch (Error& e) {
    throw e.outcome_unknown();  // from the first byte on it may have been carried out
  }
  return understand(line);
}
