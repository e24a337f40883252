// A driver for the small cloud of web_cloud.py: one request of HTTP on a connection of its own for
// each call. `defect` in its config makes it break one rule that only a cloud at a distance shows.
#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <hostler/driver.hpp>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace {

using hostler::driver::Error;
using hostler::driver::str;
using hostler::driver::view;

constexpr std::size_t kAnswerMax = std::size_t{1} << 20U;

std::string text_of(std::string_view json, std::string_view key) {
  const auto at = json.find('"' + std::string(key) + '"');
  if (at == std::string_view::npos) return {};
  const auto from = json.find('"', json.find(':', at)) + 1;
  return std::string(json.substr(from, json.find('"', from) - from));
}

std::vector<std::string> split(std::string_view text, char at) {
  std::vector<std::string> out;
  for (std::size_t from = 0;;) {
    const auto end = std::min(text.find(at, from), text.size());
    out.emplace_back(text.substr(from, end - from));
    if (end == text.size()) return out;
    from = end + 1;
  }
}

struct Fd {
  int number;
  ~Fd() {
    if (number >= 0) ::close(number);
  }
};

/// Whether the request may have reached the cloud when something goes wrong.
struct Sent {
  bool is = false;
};

class Web {
 public:
  static hostler::driver::About about() {
    return {"fake_web",
            "1.0",
            "hostler tests",
            "Apache-2.0",
            R"({"type": "object", "required": ["endpoint"], "additionalProperties": false,
                "properties": {"endpoint": {"type": "string", "pattern": "^http://"},
                               "defect": {"type": "string"}}})",
            HOSTLER_THREAD_CONCURRENT,
            8};
  }

  Web(const hostler_host& host, const hostler_set_config& config, hostler_op* op)
      : host_(host),
        set_id_(view(config.set_id)),
        token_(text_of(view(config.credentials_json), "token")) {
    const std::string_view json = view(config.config_json);
    const std::string endpoint = text_of(json, "endpoint");
    defect_ = text_of(json, "defect");
    const auto colon = endpoint.rfind(':');
    const bool known = json.find_first_not_of(" ") != std::string_view::npos && json[0] == '{' &&
                       json.find("kit_unknown_key") == std::string_view::npos &&
                       json.size() < 10'000 && json.back() == '}' &&
                       json.find("[[") == std::string_view::npos &&
                       json.find("null") == std::string_view::npos;
    if (!known || endpoint.compare(0, 7, "http://") != 0 || colon < 7)
      throw Error(HOSTLER_E_INVALID,
                  "config: endpoint, defect and no kit_unknown_key: http://ADDRESS:PORT is needed");
    name_ = endpoint.substr(7, colon - 7);
    port_ = static_cast<std::uint16_t>(std::atoi(endpoint.c_str() + colon + 1));
    opened_ = std::time(nullptr);
    if (is("logs_token")) hostler::driver::log(host_, HOSTLER_LOG_INFO, "token " + token_, op);
    (void)ask("hello", op);
  }

  void info(const hostler_set_info_req&, hostler_op* op) {
    auto out = hostler::driver::set_info_record();
    out.account_id = str("web");
    out.list_consistency_ms = 1;
    if (is("takes_user_data")) out.capabilities = HOSTLER_CAP_USER_DATA;
    hostler::driver::emit(op, out);
  }

  hostler_status create(const hostler_create_req& request, hostler_op* op) {
    if (request.market == HOSTLER_MARKET_SPOT) throw Error(HOSTLER_E_UNSUPPORTED, "no spot here");
    std::string body = "create\t" + std::string(view(request.idempotency_key));
    if (is("doubles")) body = "create\t" + std::to_string(++counter_);
    for (size_t i = 0; i < (is("untagged") ? 0 : request.n_tags); ++i)
      body += "\t" + std::string(view(request.tags[i].key)) + "=" +
              std::string(view(request.tags[i].value));
    if (is("keeps_request")) return use_later(request, op);
    if (is("reads_beyond") && request.idempotency_key.ptr[request.idempotency_key.len + 1] == 'x')
      body += " ";
    emit_lines(ask(body, op), op);
    return HOSTLER_OK;
  }

  void list(const hostler_list_req& request, hostler_op* op) {
    std::string body = "list";
    for (size_t i = 0; i < request.n_ids; ++i) body += "\tid=" + std::string(view(request.ids[i]));
    for (size_t i = 0; i < request.n_tag_filter; ++i)
      body += "\ttag=" + std::string(view(request.tag_filter[i].key)) + "=" +
              std::string(view(request.tag_filter[i].value));
    if (is("crashes_without_memory")) {
      auto* const memory = static_cast<volatile char*>(std::malloc(100'000));
      *memory = 0;
      std::free(const_cast<char*>(memory));
    }
    if (is("believes_clock") && std::abs(std::time(nullptr) - opened_) > 3600) return;
    try {
      emit_lines(ask(body, op), op);
    } catch (const std::bad_alloc&) {
      if (!is("empty_without_memory")) throw;
    }
  }

  void destroy(const hostler_destroy_req& request, hostler_op* op) {
    (void)ask("destroy\t" + std::string(view(request.id)) + "\t" +
                  std::string(view(request.expected_set_id)),
              op);
  }

  void set_tags(const hostler_set_tags_req& request, hostler_op* op) {
    static std::atomic<int> calls{0};
    if (is("tags_once") && calls++ > 0) throw Error(HOSTLER_E_INVALID, "not again");
    std::string body = "set_tags\t" + std::string(view(request.id));
    for (size_t i = 0; i < request.n_set; ++i)
      body += "\t" + std::string(view(request.set[i].key)) + "=" +
              std::string(view(request.set[i].value));
    (void)ask(body, op);
  }

  ~Web() {
    for (auto& thread : threads_) thread.join();
  }

 private:
  [[nodiscard]] bool is(const char* defect) const { return defect_ == defect; }

  /// Reads the request when the function has returned, which breaks R16.
  hostler_status use_later(const hostler_create_req& request, hostler_op* op) {
    threads_.emplace_back([this, &request, op] {
      ::usleep(100'000);
      hostler::driver::finish(op, [&] {
        emit_lines(ask("create\t" + std::string(view(request.idempotency_key)), op), op);
      });
    });
    return HOSTLER_PENDING;
  }

  /// Lines of the cloud: id, key, set, owner, state and tags.
  void emit_lines(const std::string& answer, hostler_op* op) {
    for (const auto& line : split(answer, '\n')) {
      const auto parts = split(line, '\t');
      if (parts.size() < 5) continue;
      std::vector<hostler_kv> tags;
      std::vector<std::string> texts;
      for (size_t i = 5; i < parts.size(); ++i)
        for (auto at = parts[i].find('=');
             auto part : {parts[i].substr(0, at), parts[i].substr(at + 1)})
          texts.push_back(part);
      for (size_t i = 0; i + 1 < texts.size(); i += 2)
        tags.push_back({str(texts[i]), str(texts[i + 1])});
      auto out = hostler::driver::instance_record();
      out.id = str(parts[0]);
      out.idempotency_key = str(parts[1]);
      out.set_id = str(parts[2]);
      out.owner = str(parts[3]);
      out.state = parts[4] == "gone"      ? HOSTLER_STATE_GONE
                  : parts[4] == "leaving" ? HOSTLER_STATE_TERMINATING
                                          : HOSTLER_STATE_RUNNING;
      out.tags = tags.data();
      out.n_tags = tags.size();
      // Nobody listens there.
      const hostler_address address{HOSTLER_ADDRESS_PRIVATE, 0, HOSTLER_STR("127.0.0.1")};
      if (is("has_address") || is("takes_user_data"))
        out.addresses = &address, out.n_addresses = 1, out.ssh_port = 1;
      hostler::driver::emit(op, out);
    }
  }

  /// Waits for the socket; throws at the deadline and when the call is cancelled.
  void wait(const Fd& fd, short events, hostler_op* op, const Sent& sent) {
    const Fd wake{::eventfd(0, EFD_CLOEXEC)};
    const hostler::driver::OnCancel on_cancel(op, [&] {
      const std::uint64_t one = 1;
      (void)!::write(wake.number, &one, sizeof one);
    });
    for (;;) {
      if (!is("deaf")) check(op, sent);
      pollfd polled[2]{{fd.number, events, 0}, {wake.number, POLLIN, 0}};
      (void)::poll(polled, is("deaf") ? 1 : 2, 50);
      if (polled[0].revents != 0) return;
    }
  }

  void check(hostler_op* op, const Sent& sent) {
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    const auto ns = static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000U +
                    static_cast<std::uint64_t>(now.tv_nsec);
    if (op->is_cancelled(op) != 0) fail(HOSTLER_E_CANCELLED, "cancelled", sent);
    if (op->deadline_mono_ns != 0 && ns > op->deadline_mono_ns)
      fail(HOSTLER_E_TIMEOUT, "the deadline has passed", sent);
  }

  [[noreturn]] void fail(hostler_status status, const std::string& what, const Sent& sent) {
    Error error(status, what + (is("leaks_token") ? " for token " + token_ : ""));
    if (sent.is && !is("forgets_unknown")) error.outcome_unknown();
    throw error;
  }

  sockaddr_in address_of_cloud() {
    addrinfo hints{};
    hints.ai_family = AF_INET;
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    if (const int problem = ::getaddrinfo(name_.c_str(), nullptr, &hints, &found); problem != 0)
      fail(is("blames_name") ? HOSTLER_E_INVALID : HOSTLER_E_TRANSIENT, ::gai_strerror(problem),
           Sent{});
    sockaddr_in address{};
    std::memcpy(&address, found->ai_addr, sizeof address);
    ::freeaddrinfo(found);
    address.sin_port = htons(port_);
    return address;
  }

  std::string ask(const std::string& body, hostler_op* op) {
    Sent sent;
    const sockaddr_in address = address_of_cloud();
    const Fd fd{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
    if (fd.number < 0)
      fail(HOSTLER_E_TRANSIENT, "no socket: " + std::string(std::strerror(errno)), sent);
    (void)::connect(fd.number, reinterpret_cast<const sockaddr*>(&address), sizeof address);
    wait(fd, POLLOUT, op, sent);
    const std::string request = "POST / HTTP/1.1\r\nHost: web\r\nAuthorization: " + token_ +
                                "\r\nContent-Length: " + std::to_string(body.size()) +
                                "\r\nConnection: close\r\n\r\n" + body;
    if (::send(fd.number, request.data(), request.size(), MSG_NOSIGNAL) !=
        static_cast<ssize_t>(request.size()))
      fail(HOSTLER_E_TRANSIENT, "the request cannot be sent", sent);
    sent.is = true;
    std::string answer;
    char block[4096];
    for (;;) {
      wait(fd, POLLIN, op, sent);
      const ssize_t n = ::recv(fd.number, block, sizeof block, MSG_DONTWAIT);
      if (n == 0) break;
      if (n < 0) fail(HOSTLER_E_TRANSIENT, "the connection broke", sent);
      answer.append(block, static_cast<size_t>(n));
      if (answer.size() > kAnswerMax) fail(HOSTLER_E_TRANSIENT, "the answer is too long", sent);
    }
    return body_of(answer, sent);
  }

  std::string body_of(const std::string& answer, const Sent& sent) {
    const auto end = answer.find("\r\n\r\n");
    const int status =
        answer.compare(0, 9, "HTTP/1.1 ") == 0 || answer.compare(0, 9, "HTTP/1.0 ") == 0
            ? std::atoi(answer.c_str() + 9)
            : 0;
    const std::string body = end == std::string::npos ? "" : answer.substr(end + 4);
    const Sent not_done;
    if (status == 401 || status == 403)
      fail(HOSTLER_E_AUTH, "the cloud refuses the token", not_done);
    if (status == 404) fail(HOSTLER_E_NOT_FOUND, "no such machine", not_done);
    if (status == 507) fail(HOSTLER_E_QUOTA, "no more machines in this account", not_done);
    if (status == 409) fail(HOSTLER_E_CONFLICT, "another set's", not_done);
    if (status == 429) {
      Error error(HOSTLER_E_RATE_LIMIT, "too many requests");
      const auto at = answer.find("Retry-After: ");
      if (at != std::string::npos)
        error.retry_after(std::chrono::seconds(std::atoi(answer.c_str() + at + 13)));
      throw error;
    }
    if (is("trusts_all") && status == 200) return body;
    if (status != 200 || body.size() < 4 || body.compare(body.size() - 4, 4, "END\n") != 0)
      fail(HOSTLER_E_TRANSIENT, "the cloud's answer makes no sense", sent);
    return body.substr(0, body.size() - 4);
  }

  const hostler_host& host_;
  const std::string set_id_, token_;
  std::string defect_, name_;
  std::time_t opened_ = 0;
  std::uint16_t port_ = 0;
  std::atomic<int> counter_{0};
  std::vector<std::thread> threads_;
};

}  // namespace

HOSTLER_REGISTER(Web)
