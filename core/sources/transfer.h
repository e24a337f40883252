#pragma once

#include <curl/curl.h>

#include <array>
#include <cstddef>
#include <optional>
#include <string>

#include "core/base/error.h"
#include "core/base/time.h"
#include "core/sources/http_messages.h"
#include "core/sources/inquiry.h"

namespace hostler::sources {

/// One reading over HTTP, as a transfer of libcurl, or two of these, one after the other.
class Transfer {
 public:
  Transfer(Inquiry inquiry, Mono deadline) : inquiry_(std::move(inquiry)), deadline_(deadline) {}
  ~Transfer();
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;

  [[nodiscard]] CURL* easy() const { return easy_; }
  [[nodiscard]] const model::MetricSource& source() const { return inquiry_.source(); }
  /// Makes it ready for the next request. Errors: of the address, or of the file of the token.
  Result<void> prepare(Mono now);
  /// The result of the request. nullopt: another one is to be prepared.
  Result<std::optional<Samples>> finish(CURLcode code);

 private:
  void set_limits(Mono now);
  Result<void> set_address(const HttpRequest& request);
  [[nodiscard]] Error failure(CURLcode code) const;
  static std::size_t on_body(char* data, std::size_t, std::size_t n, void* self);
  static std::size_t on_header(char* data, std::size_t, std::size_t n, void* self);

  Inquiry inquiry_;
  const Mono deadline_;
  CURL* easy_ = curl_easy_init();
  curl_slist* headers_ = nullptr;
  std::string authorization_;  ///< SECRET.
  std::string form_;           ///< Of the request; libcurl reads it while it sends.
  std::string server_;         ///< For messages: "http://127.0.0.1:9090".
  std::string body_;
  std::size_t header_bytes_ = 0;
  bool is_too_large_ = false;
  std::array<char, CURL_ERROR_SIZE> why_{};
};

}  // namespace hostler::sources
