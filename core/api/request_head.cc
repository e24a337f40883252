#include "core/api/request_head.h"

#include <algorithm>
#include <array>
#include <string>

#include "core/base/text.h"

namespace hostler::api {
namespace {

namespace http = boost::beast::http;

constexpr std::array kOnce{http::field::host, http::field::transfer_encoding,
                           http::field::content_length, http::field::authorization};

std::string shown(boost::beast::string_view value) {
  return printable(std::string_view(value.data(), value.size()), 40);
}

bool is_number(boost::beast::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

/// A name, an address or a percent-encoded path, maybe with a port (RFC 3986).
bool is_host(boost::beast::string_view text) {
  constexpr std::string_view kMarks = "-._~!$&'()*+,;=:[]%";
  return std::ranges::all_of(text, [&](unsigned char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           kMarks.find(static_cast<char>(c)) != std::string_view::npos;
  });
}

/// Beast ignores transfer codings that it does not know.
Result<void> check_coding(const RequestHead& head) {
  const auto refuse = [](const std::string& why) { return fail(Errc::kInvalidArgument, why); };
  if (head.count(http::field::transfer_encoding) == 0) return {};
  const auto coding = head[http::field::transfer_encoding];
  if (coding != "chunked")
    return refuse("Transfer-Encoding: " + shown(coding) + ": only 'chunked' is taken here");
  if (head.count(http::field::content_length) != 0)
    return refuse("Transfer-Encoding and Content-Length are there at once");
  if (head.version() != 11) return refuse("Transfer-Encoding is of HTTP/1.1");
  return {};
}

}  // namespace

bool expects_unknown(const RequestHead& head) {
  if (head.version() != 11) return false;  // HTTP/1.0 has no such header.
  const auto [first, last] = head.equal_range(http::field::expect);
  return !std::all_of(first, last, [](const auto& field) {
    return std::ranges::equal(field.value(), std::string_view("100-continue"), [](char a, char b) {
      return (a >= 'A' && a <= 'Z' ? a - 'A' + 'a' : a) == b;
    });
  });
}

Result<void> check_head(const RequestHead& head, std::string_view text) {
  const auto refuse = [](const std::string& why) { return fail(Errc::kInvalidArgument, why); };
  if (expects_unknown(head))
    return refuse("Expect: " + shown(head[http::field::expect]) +
                  ": only '100-continue' is known here");
  if (text.find("\r\n ") != std::string_view::npos || text.find("\r\n\t") != std::string_view::npos)
    return refuse("a header is folded into two lines: send it in one");
  for (const auto field : kOnce)
    if (head.count(field) > 1)
      return refuse("the header " + std::string(http::to_string(field)) + " is there twice");
  if (head.version() == 11 && head.count(http::field::host) == 0)
    return refuse("HTTP/1.1 needs the header Host");
  if (!is_host(head[http::field::host]))
    return refuse("Host: " + shown(head[http::field::host]) + ": this is no name of a host");
  if (!is_number(head[http::field::content_length])) return refuse("Content-Length is one number");
  return check_coding(head);
}

}  // namespace hostler::api
