#include "core/api/target.h"
#include "core/base/text.h"
#include "tests/fuzz/target.h"

/// The target of a request line, whose path and query every handler goes by.
namespace hostler::fuzz {
namespace {

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<std::uint8_t>(c);
    out += "%" + to_hex({&byte, 1});
  }
  return out;
}

/// The same request, every byte of it escaped.
std::string spelled_out(const api::Request& request) {
  std::string out;
  for (const std::string& part : request.path) out += "/" + escaped(part);
  if (out.empty()) out = "/";
  char separator = '?';
  for (const auto& [key, value] : request.query) {
    out += separator + escaped(key) + "=" + escaped(value);
    separator = '&';
  }
  return out;
}

void check(const api::Request& request) {
  promise(request.path.size() <= api::kSegmentsMax && request.query.size() <= 32,
          "a request is bounded");
  for (const std::string& part : request.path)
    promise(!part.empty() && is_utf8(part), "a part of the path is text without NUL", part);
  for (const auto& [key, value] : request.query)
    promise(is_utf8(key) && is_utf8(value), "a query is text without NUL", key);
  api::Request again;
  const auto parsed = api::parse_target(spelled_out(request), again);
  promise(parsed && again.path == request.path && again.query == request.query,
          "what was decoded, escaped again, decodes to the same", spelled_out(request));
}

}  // namespace
}  // namespace hostler::fuzz

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hostler;
  api::Request request;
  const auto parsed = api::parse_target(fuzz::as_text(data, size), request);
  if (parsed)
    fuzz::check(request);
  else
    fuzz::promise(parsed.error().code == Errc::kInvalidArgument, "a bad URL is the client's fault");
  return 0;
}
