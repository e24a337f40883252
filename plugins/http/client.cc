#include "http/client.h"

#include <curl/curl.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <new>
#include <utility>

#include "http/option.h"
#include "http/pin.h"

namespace hostler::http {
namespace {

using driver::Error;

constexpr std::size_t kAnswerMax = std::size_t{64} << 20;
constexpr std::size_t kIdleMax = 16;
constexpr std::int64_t kRetryAfterMaxS = 3600;

/// What is read of an answer.
struct Received {
  std::string body;
  bool lacks_memory = false;
};

/// \param to a Received; with kAnswerMax bytes the transfer fails.
std::size_t append(char* data, std::size_t, std::size_t n, void* to) {
  auto& received = *static_cast<Received*>(to);
  if (received.body.size() + n > kAnswerMax) return 0;
  try {
    received.body.append(data, n);
  } catch (const std::bad_alloc&) {  // nothing may be thrown through libcurl
    received.lacks_memory = true;
    return 0;
  }
  return n;
}

void add_header(curl_slist*& list, const std::string& header) {
  curl_slist* const longer = curl_slist_append(list, header.c_str());
  if (longer == nullptr) throw std::bad_alloc();
  list = longer;
}

/// Of the request, or of its operation if that is less. Throws TIMEOUT where nothing is left.
std::int64_t time_left_ms(const Request& request, const hostler_op* op) {
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

/// libcurl 7.88 signs all headers that it was given, also those of which it sends nothing, such as
/// "Expect:": a request with one of these is refused. What it signs besides is right.
void sign(CURL* easy, const Signature& with) {
  set_option(easy, CURLOPT_AWS_SIGV4, ("aws:amz:" + with.region + ":" + with.service).c_str());
  set_option(easy, CURLOPT_USERNAME, with.access_key_id.c_str());
  set_option(easy, CURLOPT_PASSWORD, with.secret_access_key.c_str());
}

/// 0 if it did not say a time.
std::int64_t date_of(CURL* easy) {
  curl_header* date = nullptr;
  if (curl_easy_header(easy, "Date", 0, CURLH_HEADER, -1, &date) != CURLHE_OK) return 0;
  const time_t seconds = curl_getdate(date->value, nullptr);
  return seconds < 0 ? 0 : static_cast<std::int64_t>(seconds);
}

/// Seconds, from the header Retry-After; 0: there is none. libcurl reads both forms, seconds and
/// dates; a date is compared to the clock of this machine, which may be wrong.
std::int64_t retry_after_of(CURL* easy) {
  curl_off_t seconds = 0;
  const CURLcode code = curl_easy_getinfo(easy, CURLINFO_RETRY_AFTER, &seconds);
  return code == CURLE_OK ? std::clamp<std::int64_t>(seconds, 0, kRetryAfterMaxS) : 0;
}

curl_blob blob(const std::string& text) {
  return {const_cast<char*>(text.data()), text.size(), CURL_BLOB_NOCOPY};
}

}  // namespace

struct Client::Connection {
  CURL* easy = curl_easy_init();
  CURLM* multi = curl_multi_init();
  curl_slist* headers = nullptr;
  int wake = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  std::array<char, CURL_ERROR_SIZE> why{};
  Received received;

  void set_headers(const Server& server, const Request& request) {
    curl_slist_free_all(std::exchange(headers, nullptr));
    for (const std::string& one : server.headers) add_header(headers, one);
    for (const std::string& one : request.headers) add_header(headers, one);
    if (request.signature && !request.signature->session_token.empty())
      add_header(headers, "X-Amz-Security-Token: " + request.signature->session_token);
  }

  ~Connection() {
    curl_slist_free_all(headers);
    curl_easy_cleanup(easy);
    curl_multi_cleanup(multi);
    ::close(wake);
  }
};

Client::Client(Server server) : server_(std::move(server)) { initialise_curl(); }

Client::~Client() = default;

std::unique_ptr<Client::Connection> Client::take() {
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

void Client::give_back(std::unique_ptr<Connection> connection) {
  const std::lock_guard lock(mutex_);
  if (idle_.size() < kIdleMax) idle_.push_back(std::move(connection));
}

void Client::prepare(Connection& connection, const Request& request) const {
  CURL* const easy = connection.easy;
  curl_easy_reset(easy);
  connection.received = {};
  connection.why[0] = '\0';
  eventfd_t late = 0;  // a cancel may have come after the end of the transfer before
  (void)(::eventfd_read(connection.wake, &late) == 0);
  connection.set_headers(server_, request);
  set_option(easy, CURLOPT_HTTPHEADER, connection.headers);
  set_option(easy, CURLOPT_USERAGENT, "hostler");
  set_option(easy, CURLOPT_CUSTOMREQUEST, request.method.c_str());
  const std::string base = server_.socket.empty() ? server_.base : "http://localhost";
  set_option(easy, CURLOPT_URL, (base + request.path).c_str());
  // libcurl by itself sends a request again if a connection that it kept ends before the answer.
  if (request.changes() && !request.is_repeatable) set_option(easy, CURLOPT_FRESH_CONNECT, 1L);
  if (!request.body.empty()) {
    set_option(easy, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(request.body.size()));
    set_option(easy, CURLOPT_POSTFIELDS, request.body.data());
  }
  if (request.signature) sign(easy, *request.signature);
  set_option(easy, CURLOPT_WRITEFUNCTION, append);
  set_option(easy, CURLOPT_WRITEDATA, &connection.received);
  set_option(easy, CURLOPT_ERRORBUFFER, connection.why.data());
  set_option(easy, CURLOPT_NOSIGNAL, 1L);
  set_option(easy, CURLOPT_CONNECTTIMEOUT_MS, server_.connect_timeout_ms);
  prepare_way(connection);
}

void Client::prepare_way(Connection& connection) const {
  CURL* const easy = connection.easy;
  if (!server_.uses_proxy || !server_.socket.empty()) set_option(easy, CURLOPT_NOPROXY, "*");
  if (!server_.socket.empty()) {
    set_option(easy, CURLOPT_PROTOCOLS_STR, "http");
    set_option(easy, CURLOPT_UNIX_SOCKET_PATH, server_.socket.c_str());
    return;
  }
  set_option(easy, CURLOPT_PROTOCOLS_STR, server_.may_be_plain ? "https,http" : "https");
  if (!server_.client_key.empty()) {
    const curl_blob certificate = blob(server_.client_certificate);
    const curl_blob key = blob(server_.client_key);
    set_option(easy, CURLOPT_SSLCERT_BLOB, &certificate);
    set_option(easy, CURLOPT_SSLKEY_BLOB, &key);
  }
  set_option(easy, CURLOPT_SSLVERSION, long{CURL_SSLVERSION_TLSv1_2});
  if (!server_.ca_file.empty()) set_option(easy, CURLOPT_CAINFO, server_.ca_file.c_str());
  if (!server_.pin.empty()) pin_certificate(easy, server_.pin);
}

/// \return the code of libcurl, or -1 if the transfer has not ended.
int Client::transfer(Connection& connection, const Request& request, hostler_op* op) const {
  set_option(connection.easy, CURLOPT_TIMEOUT_MS, long(time_left_ms(request, op)));
  if (curl_multi_add_handle(connection.multi, connection.easy) != CURLM_OK) throw std::bad_alloc();
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

Answer Client::send(const Request& request, hostler_op* op) {
  auto connection = take();
  prepare(*connection, request);
  Failed failed;
  failed.code = transfer(*connection, request, op);
  if (failed.code != CURLE_OK) {  // the connection is not used again
    failed.is_cancelled = op != nullptr && op->is_cancelled(op) != 0;
    failed.lacks_memory = connection->received.lacks_memory;
    failed.why = connection->why.data();
    curl_easy_getinfo(connection->easy, CURLINFO_REQUEST_SIZE, &failed.bytes_sent);
    throw failure(request, failed);
  }
  Answer answer;
  curl_easy_getinfo(connection->easy, CURLINFO_RESPONSE_CODE, &answer.status);
  answer.date_unix_s = date_of(connection->easy);
  answer.retry_after_s = retry_after_of(connection->easy);
  answer.body = std::exchange(connection->received.body, {});
  give_back(std::move(connection));
  return answer;
}

}  // namespace hostler::http
