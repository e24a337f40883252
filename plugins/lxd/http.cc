#include "http.h"

#include <curl/curl.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <system_error>
#include <utility>

#include "pin.h"

namespace hostler::lxd {
namespace {

using driver::Error;

constexpr std::size_t kAnswerMax = std::size_t{64} << 20;
constexpr std::size_t kIdleMax = 16;
constexpr long kConnectTimeoutMs = 10'000;

/// \param to what is read; with kAnswerMax bytes the transfer fails.
std::size_t append(char* data, std::size_t, std::size_t n, void* to) {
  auto& out = *static_cast<std::string*>(to);
  if (out.size() + n > kAnswerMax) return 0;
  out.append(data, n);
  return n;
}

/// Of the request, or of its operation if that is less. Throws TIMEOUT where nothing is left.
std::int64_t time_left_ms(const HttpRequest& request, const hostler_op* op) {
  if (op == nullptr || op->deadline_mono_ns == 0) return request.timeout_ms;
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  const auto left = std::chrono::nanoseconds(op->deadline_mono_ns) - now;
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(left).count();
  if (ms <= 0) throw NoAnswer(HOSTLER_E_TIMEOUT, "the deadline of the call has passed", false);
  return std::min<std::int64_t>(ms, request.timeout_ms);
}

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

void initialise_curl() {
  static const CURLcode kDone = curl_global_init(CURL_GLOBAL_DEFAULT);
  if (kDone != CURLE_OK)
    throw Error(HOSTLER_E_INTERNAL, std::string("libcurl: ") + curl_easy_strerror(kDone));
}

curl_blob blob(const std::string& text) {
  return {const_cast<char*>(text.data()), text.size(), CURL_BLOB_NOCOPY};
}

}  // namespace

struct Http::Line {
  CURL* easy = curl_easy_init();
  CURLM* multi = curl_multi_init();
  curl_slist* headers = nullptr;
  int wake = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  std::array<char, CURL_ERROR_SIZE> why{};
  std::string body;

  ~Line() {
    curl_slist_free_all(headers);
    curl_easy_cleanup(easy);
    curl_multi_cleanup(multi);
    ::close(wake);
  }
};

Http::Http(const Config& config, Credentials credentials)
    : socket_(config.socket),
      base_(config.url.empty() ? "http://lxd" : config.url),
      ca_file_(config.ca_file),
      pin_(config.server_certificate_sha256),
      credentials_(std::move(credentials)) {
  initialise_curl();
}

Http::~Http() = default;

std::unique_ptr<Http::Line> Http::take() {
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      auto line = std::move(idle_.back());
      idle_.pop_back();
      return line;
    }
  }
  auto line = std::make_unique<Line>();
  if (line->easy == nullptr || line->multi == nullptr || line->wake < 0)
    throw NoAnswer(HOSTLER_E_TRANSIENT, "no descriptor or memory for a request is left", false);
  return line;
}

void Http::give_back(std::unique_ptr<Line> line) {
  const std::lock_guard lock(mutex_);
  if (idle_.size() < kIdleMax) idle_.push_back(std::move(line));
}

void Http::prepare(Line& line, const HttpRequest& request) const {
  CURL* const easy = line.easy;
  curl_easy_reset(easy);
  line.body.clear();
  line.why[0] = '\0';
  eventfd_t late = 0;  // a cancel may have come after the end of the transfer before
  (void)(::eventfd_read(line.wake, &late) == 0);
  if (line.headers == nullptr) {
    line.headers = curl_slist_append(line.headers, "Expect:");
    line.headers = curl_slist_append(line.headers, "Content-Type: application/json");
  }
  curl_easy_setopt(easy, CURLOPT_HTTPHEADER, line.headers);
  curl_easy_setopt(easy, CURLOPT_USERAGENT, "hostler");
  curl_easy_setopt(easy, CURLOPT_URL, (base_ + request.path).c_str());
  curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, socket_.empty() ? "https" : "http");
  curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, request.method.c_str());
  // libcurl by itself sends a request again if a connection that it kept ends before the answer.
  if (request.method != "GET") curl_easy_setopt(easy, CURLOPT_FRESH_CONNECT, 1L);
  if (!request.body.empty()) {
    curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(request.body.size()));
    curl_easy_setopt(easy, CURLOPT_POSTFIELDS, request.body.data());
  }
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, append);
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, &line.body);
  curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, line.why.data());
  curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, kConnectTimeoutMs);
  if (!socket_.empty()) {
    curl_easy_setopt(easy, CURLOPT_UNIX_SOCKET_PATH, socket_.c_str());
    curl_easy_setopt(easy, CURLOPT_NOPROXY, "*");
    return;
  }
  const curl_blob certificate = blob(credentials_.client_certificate);
  const curl_blob key = blob(credentials_.client_key);
  curl_easy_setopt(easy, CURLOPT_SSLCERT_BLOB, &certificate);
  curl_easy_setopt(easy, CURLOPT_SSLKEY_BLOB, &key);
  curl_easy_setopt(easy, CURLOPT_SSLVERSION, CURL_SSLVERSION_TLSv1_2);
  if (!ca_file_.empty()) curl_easy_setopt(easy, CURLOPT_CAINFO, ca_file_.c_str());
  if (!pin_.empty()) pin_certificate(easy, pin_);
}

/// \return the code of libcurl, or -1 if the operation was cancelled.
int Http::transfer(Line& line, const HttpRequest& request, hostler_op* op) const {
  curl_easy_setopt(line.easy, CURLOPT_TIMEOUT_MS, long(time_left_ms(request, op)));
  curl_multi_add_handle(line.multi, line.easy);
  int code = -1, running = 1;
  const auto run = [&] {
    while (curl_multi_perform(line.multi, &running) == CURLM_OK && running != 0) {
      if (op != nullptr && op->is_cancelled(op) != 0) break;
      curl_waitfd wake{line.wake, CURL_WAIT_POLLIN, 0};
      curl_multi_poll(line.multi, &wake, 1, 1000, nullptr);
    }
  };
  if (op == nullptr) {
    run();
  } else {
    const driver::OnCancel on_cancel(op, [&line] { (void)(::eventfd_write(line.wake, 1) == 0); });
    run();
  }
  int left = 0;
  if (const CURLMsg* message = curl_multi_info_read(line.multi, &left); message != nullptr)
    code = message->data.result;
  curl_multi_remove_handle(line.multi, line.easy);
  return code;
}

NoAnswer Http::failure(const Line& line, const HttpRequest& request, int code) const {
  const std::string where = socket_.empty() ? base_ : socket_;
  long bytes_sent = 0;
  curl_easy_getinfo(line.easy, CURLINFO_REQUEST_SIZE, &bytes_sent);
  const bool sent = request.method != "GET" && (bytes_sent > 0 || !was_not_sent(code));
  if (code < 0)
    return {HOSTLER_E_CANCELLED, request.method + " " + where + ": cancelled by the host", sent};
  std::string why =
      line.why[0] != '\0' ? line.why.data() : curl_easy_strerror(static_cast<CURLcode>(code));
  const auto because = [&](const std::string& hint) {
    return where + " does not answer (" + why + ")" + hint;
  };
  switch (code) {
    case CURLE_OPERATION_TIMEDOUT:
      return {HOSTLER_E_TIMEOUT, because(""), sent};
    case CURLE_PEER_FAILED_VERIFICATION:
      return {
          HOSTLER_E_AUTH,
          "the certificate of " + where + " is not " +
              (pin_.empty() ? "trusted (" + why + "): set `server_certificate_sha256` or `ca_file`"
                            : "the one of `server_certificate_sha256`"),
          false};
    case CURLE_SSL_CERTPROBLEM:
      return {HOSTLER_E_AUTH, "the client certificate or its key cannot be used: " + why, false};
    case CURLE_SSL_CACERT_BADFILE:
      return {HOSTLER_E_INVALID,
              "ca_file " + ca_file_ + " cannot be read: name it in `readable` of the set", false};
    case CURLE_WRITE_ERROR:
      return {HOSTLER_E_TRANSIENT,
              because(": the answer has more than 64 MiB: fewer instances or less user data in "
                      "this project"),
              sent};
    default:
      break;
  }
  if (!socket_.empty() && code == CURLE_COULDNT_CONNECT) {
    const int number = connect_error(socket_);
    if (number != 0) why = std::generic_category().message(number);
    if (number == EACCES || number == EPERM || number == EAFNOSUPPORT)  // the last: the sandbox
      return {HOSTLER_E_AUTH,
              where + " may not be opened (" + why +
                  "): the set needs `sandbox`: \"files\", and the daemon's user the socket's group",
              false};
  }
  return {HOSTLER_E_TRANSIENT, because(""), sent};
}

HttpAnswer Http::send(const HttpRequest& request, hostler_op* op) {
  auto line = take();
  prepare(*line, request);
  const int code = transfer(*line, request, op);
  if (code != CURLE_OK) throw failure(*line, request, code);  // and the line with it
  HttpAnswer answer;
  curl_easy_getinfo(line->easy, CURLINFO_RESPONSE_CODE, &answer.status);
  answer.body = std::exchange(line->body, {});
  give_back(std::move(line));
  return answer;
}

}  // namespace hostler::lxd
