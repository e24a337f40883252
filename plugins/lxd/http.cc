#include "http.h"

#include <curl/curl.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
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

void initialise_curl() {
  static const CURLcode kDone = curl_global_init(CURL_GLOBAL_DEFAULT);
  if (kDone != CURLE_OK)
    throw Error(HOSTLER_E_INTERNAL, std::string("libcurl: ") + curl_easy_strerror(kDone));
}

curl_blob blob(const std::string& text) {
  return {const_cast<char*>(text.data()), text.size(), CURL_BLOB_NOCOPY};
}

}  // namespace

struct Http::Connection {
  CURL* easy = curl_easy_init();
  CURLM* multi = curl_multi_init();
  curl_slist* headers = nullptr;
  int wake = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  std::array<char, CURL_ERROR_SIZE> why{};
  std::string body;

  ~Connection() {
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

std::unique_ptr<Http::Connection> Http::take() {
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      auto connection = std::move(idle_.back());
      idle_.pop_back();
      return connection;
    }
  }
  auto connection = std::make_unique<Connection>();
  if (connection->easy == nullptr || connection->multi == nullptr || connection->wake < 0)
    throw NoAnswer(HOSTLER_E_TRANSIENT, "no descriptor or memory for a request is left", false);
  curl_multi_setopt(connection->multi, CURLMOPT_MAXCONNECTS, 1L);  // else a change leaves another
  return connection;
}

void Http::give_back(std::unique_ptr<Connection> connection) {
  const std::lock_guard lock(mutex_);
  if (idle_.size() < kIdleMax) idle_.push_back(std::move(connection));
}

void Http::prepare(Connection& connection, const HttpRequest& request) const {
  CURL* const easy = connection.easy;
  curl_easy_reset(easy);
  connection.body.clear();
  connection.why[0] = '\0';
  eventfd_t late = 0;  // a cancel may have come after the end of the transfer before
  (void)(::eventfd_read(connection.wake, &late) == 0);
  if (connection.headers == nullptr) {
    connection.headers = curl_slist_append(connection.headers, "Expect:");
    connection.headers = curl_slist_append(connection.headers, "Content-Type: application/json");
  }
  curl_easy_setopt(easy, CURLOPT_HTTPHEADER, connection.headers);
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
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, &connection.body);
  curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, connection.why.data());
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

/// \return the code of libcurl, or -1 if the transfer has not ended.
int Http::transfer(Connection& connection, const HttpRequest& request, hostler_op* op) const {
  curl_easy_setopt(connection.easy, CURLOPT_TIMEOUT_MS, long(time_left_ms(request, op)));
  curl_multi_add_handle(connection.multi, connection.easy);
  int code = -1, running = 1;
  const auto run = [&] {
    while (curl_multi_perform(connection.multi, &running) == CURLM_OK && running != 0) {
      if (op != nullptr && op->is_cancelled(op) != 0) break;
      curl_waitfd wake{connection.wake, CURL_WAIT_POLLIN, 0};
      curl_multi_poll(connection.multi, &wake, 1, 1000, nullptr);
    }
  };
  if (op == nullptr) {
    run();
  } else {
    const driver::OnCancel on_cancel(
        op, [&connection] { (void)(::eventfd_write(connection.wake, 1) == 0); });
    run();
  }
  int left = 0;
  if (const CURLMsg* message = curl_multi_info_read(connection.multi, &left); message != nullptr)
    code = message->data.result;
  curl_multi_remove_handle(connection.multi, connection.easy);
  return code;
}

HttpAnswer Http::send(const HttpRequest& request, hostler_op* op) {
  auto connection = take();
  prepare(*connection, request);
  Failed failed;
  failed.code = transfer(*connection, request, op);
  if (failed.code != CURLE_OK) {  // the connection is not used again
    failed.is_cancelled = op != nullptr && op->is_cancelled(op) != 0;
    failed.why = connection->why.data();
    curl_easy_getinfo(connection->easy, CURLINFO_REQUEST_SIZE, &failed.bytes_sent);
    throw failure(request, failed);
  }
  HttpAnswer answer;
  curl_easy_getinfo(connection->easy, CURLINFO_RESPONSE_CODE, &answer.status);
  answer.body = std::exchange(connection->body, {});
  give_back(std::move(connection));
  return answer;
}

}  // namespace hostler::lxd
