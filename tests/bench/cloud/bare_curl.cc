#include "tests/bench/cloud/bare_curl.h"

#include <stdexcept>
#include <utility>

namespace hostler::bench {

BareCurl::BareCurl(std::string base, std::string socket)
    : base_(std::move(base)), socket_(std::move(socket)) {
  ::curl_global_init(CURL_GLOBAL_DEFAULT);
  easy_ = ::curl_easy_init();
}

BareCurl::~BareCurl() { ::curl_easy_cleanup(easy_); }

const std::string& BareCurl::send(const Request& request) {
  ::curl_easy_reset(easy_);
  answer_.clear();
  ::curl_easy_setopt(easy_, CURLOPT_URL, (base_ + request.path).c_str());
  if (!socket_.empty()) ::curl_easy_setopt(easy_, CURLOPT_UNIX_SOCKET_PATH, socket_.c_str());
  ::curl_easy_setopt(easy_, CURLOPT_CUSTOMREQUEST, request.method.c_str());
  if (request.fresh_connection) ::curl_easy_setopt(easy_, CURLOPT_FRESH_CONNECT, 1L);
  if (!request.body.empty()) ::curl_easy_setopt(easy_, CURLOPT_POSTFIELDS, request.body.c_str());
  if (!request.signing.empty()) {
    ::curl_easy_setopt(easy_, CURLOPT_AWS_SIGV4, request.signing.c_str());
    ::curl_easy_setopt(easy_, CURLOPT_USERNAME, request.user.c_str());
    ::curl_easy_setopt(easy_, CURLOPT_PASSWORD, request.password.c_str());
  }
  ::curl_easy_setopt(easy_, CURLOPT_WRITEDATA, &answer_);
  ::curl_easy_setopt(
      easy_, CURLOPT_WRITEFUNCTION, +[](char* data, std::size_t, std::size_t n, void* to) {
        static_cast<std::string*>(to)->append(data, n);
        return n;
      });
  if (::curl_easy_perform(easy_) != CURLE_OK) throw std::runtime_error("no answer");
  return answer_;
}

}  // namespace hostler::bench
