#include "core/sources/transfer.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <new>

#include "core/base/assert.h"
#include "core/base/text.h"
#include "core/base/units.h"
#include "core/sources/token.h"

namespace hostler::sources {
namespace {

constexpr std::size_t kBodyMax = std::size_t{8} << 20U;
constexpr std::size_t kHeadersMax = std::size_t{64} << 10U;

template <class T>
void set_option(CURL* easy, CURLoption option, T value) {
  const CURLcode code = curl_easy_setopt(easy, option, value);
  if (code == CURLE_OUT_OF_MEMORY) throw std::bad_alloc();
  // Without the option another request would be sent, or to a server that nobody has checked.
  HOSTLER_ASSERT(code == CURLE_OK, "libcurl has the options that requests need");
}

using Url = std::unique_ptr<CURLU, decltype(&curl_url_cleanup)>;

std::string part_of(const Url& url, CURLUPart part) {
  char* text = nullptr;
  if (curl_url_get(url.get(), part, &text, 0) != CURLUE_OK) return "";
  std::string copy = text;
  curl_free(text);
  return copy;
}

/// "https://prometheus.example:9090". Neither user nor path: these may be secrets.
Result<std::string> server_of(const std::string& address) {
  const Url url(curl_url(), curl_url_cleanup);
  const CURLUcode code =
      curl_url_set(url.get(), CURLUPART_URL, address.c_str(), CURLU_DISALLOW_USER);
  if (code == CURLUE_USER_NOT_ALLOWED)
    return fail(Errc::kInvalidArgument, "`url` has a user in it; use `token_file` instead");
  const std::string scheme = part_of(url, CURLUPART_SCHEME);
  if (code != CURLUE_OK || (scheme != "http" && scheme != "https"))
    return fail(Errc::kInvalidArgument,
                "`url` is no address of HTTP, such as http://127.0.0.1:9090");
  const std::string port = part_of(url, CURLUPART_PORT);
  return scheme + "://" + part_of(url, CURLUPART_HOST) + (port.empty() ? "" : ":" + port);
}

}  // namespace

Transfer::~Transfer() {
  curl_easy_cleanup(easy_);
  curl_slist_free_all(headers_);
}

Result<void> Transfer::prepare(Mono now) {
  if (easy_ == nullptr) return fail(Errc::kUnavailable, "there is no memory for a request");
  const HttpRequest request = inquiry_.request();
  curl_easy_reset(easy_);
  body_.clear();
  header_bytes_ = 0;
  why_[0] = '\0';
  HOSTLER_TRY(set_address(request));
  if (!source().token_file.empty() && authorization_.empty()) {
    authorization_ = HOSTLER_TRY(authorization_of(source().token_file));
    headers_ = curl_slist_append(headers_, authorization_.c_str());
    if (headers_ == nullptr) return fail(Errc::kUnavailable, "there is no memory for a request");
  }
  set_option(easy_, CURLOPT_HTTPHEADER, headers_);
  set_option(easy_, CURLOPT_USERAGENT, "hostler");
  set_option(easy_, CURLOPT_WRITEFUNCTION, on_body);
  set_option(easy_, CURLOPT_WRITEDATA, this);
  set_option(easy_, CURLOPT_HEADERFUNCTION, on_header);
  set_option(easy_, CURLOPT_HEADERDATA, this);
  set_option(easy_, CURLOPT_ERRORBUFFER, why_.data());
  set_limits(now);
  return {};
}

Result<void> Transfer::set_address(const HttpRequest& request) {
  server_ = HOSTLER_TRY(server_of(request.url));
  set_option(easy_, CURLOPT_URL, request.url.c_str());
  set_option(easy_, CURLOPT_PROTOCOLS_STR, "http,https");
  set_option(easy_, CURLOPT_FOLLOWLOCATION, 0L);
  // A proxy would read the token; over TLS it passes on what it cannot read.
  if (server_.starts_with("http:")) set_option(easy_, CURLOPT_NOPROXY, "*");
  set_option(easy_, CURLOPT_SSLVERSION, long{CURL_SSLVERSION_TLSv1_2});
  form_ = request.form;
  if (form_.empty()) return {};
  set_option(easy_, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(form_.size()));
  set_option(easy_, CURLOPT_POSTFIELDS, form_.data());
  return {};
}

void Transfer::set_limits(Mono now) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline_ - now).count();
  set_option(easy_, CURLOPT_TIMEOUT_MS, std::max<long>(1, left));  // 0 would be none
  // CURLOPT_NOSIGNAL stays off: so libcurl ignores SIGPIPE while it writes, as `hostler` needs.
  // Otherwise the end of a transfer waits for a name server that does not answer.
  set_option(easy_, CURLOPT_QUICK_EXIT, 1L);
}

std::size_t Transfer::on_body(char* data, std::size_t, std::size_t n, void* self) {
  auto& transfer = *static_cast<Transfer*>(self);
  transfer.is_too_large_ = transfer.body_.size() + n > kBodyMax;
  if (transfer.is_too_large_) return 0;
  try {
    transfer.body_.append(data, n);
  } catch (const std::bad_alloc&) {  // nothing may be thrown through libcurl
    return 0;
  }
  return n;
}

std::size_t Transfer::on_header(char*, std::size_t, std::size_t n, void* self) {
  auto& transfer = *static_cast<Transfer*>(self);
  transfer.header_bytes_ += n;
  transfer.is_too_large_ = transfer.header_bytes_ > kHeadersMax;
  return transfer.is_too_large_ ? 0 : n;
}

Result<std::optional<Samples>> Transfer::finish(CURLcode code) {
  if (code != CURLE_OK) return tl::unexpected(failure(code));
  HttpAnswer answer;
  curl_easy_getinfo(easy_, CURLINFO_RESPONSE_CODE, &answer.status);
  answer.body = std::move(body_);
  auto samples = inquiry_.take(answer);
  if (samples) return samples;
  const bool is_refused = answer.status == 401 || answer.status == 403;
  std::string message = server_ + ": " + samples.error().message;
  if (is_refused) message += "; check `token_file`";
  return fail(samples.error().code, message);
}

Error Transfer::failure(CURLcode code) const {
  if (is_too_large_)
    return {Errc::kTooLarge, server_ + ": the answer has more than " +
                                 format_size(static_cast<std::int64_t>(kBodyMax)) +
                                 ", or too long headers"};
  if (code == CURLE_OPERATION_TIMEDOUT)
    return {Errc::kUnavailable,
            server_ + " did not answer within " + format_duration(source().timeout)};
  const std::string why = why_[0] != '\0' ? why_.data() : curl_easy_strerror(code);
  return {Errc::kUnavailable, server_ + " does not answer (" + printable(why, 200) + ")"};
}

}  // namespace hostler::sources
