#include "core/api/target.h"

#include "core/base/text.h"

namespace hostler::api {
namespace {

Result<std::string> decode(std::string_view text, bool plus_is_space) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+' && plus_is_space) {
      out += ' ';
    } else if (text[i] == '%') {
      const auto byte = from_hex(text.substr(i + 1, 2));
      if (!byte || byte->size() != 1)
        return fail(Errc::kInvalidArgument, "the URL has a malformed % escape");
      out += static_cast<char>((*byte)[0]);
      i += 2;
    } else {
      out += text[i];
    }
  }
  if (!is_utf8(out))
    return fail(Errc::kInvalidArgument, "the URL is not UTF-8, or has a NUL in it");
  return out;
}

}  // namespace

Result<void> parse_target(std::string_view target, Request& request) {
  if (target.empty() || target[0] != '/')
    return fail(Errc::kInvalidArgument, "the URL's path must begin with /");
  const std::size_t mark = target.find('?');
  const std::string_view path = target.substr(1, mark == std::string_view::npos ? mark : mark - 1);
  for (const std::string_view part : split(path, '/')) {
    if (part.empty()) continue;
    request.path.push_back(HOSTLER_TRY(decode(part, false)));
    if (request.path.size() > kSegmentsMax)
      return fail(Errc::kInvalidArgument, "the URL's path is too long");
  }
  if (mark == std::string_view::npos) return {};
  for (const std::string_view pair : split(target.substr(mark + 1), '&')) {
    if (pair.empty()) continue;
    const std::size_t equals = std::min(pair.find('='), pair.size());
    auto key = HOSTLER_TRY(decode(pair.substr(0, equals), true));
    auto value = HOSTLER_TRY(
        decode(equals < pair.size() ? pair.substr(equals + 1) : std::string_view(), true));
    request.query[std::move(key)] = std::move(value);
    if (request.query.size() > 32)
      return fail(Errc::kInvalidArgument, "the URL has more than 32 query keys");
  }
  return {};
}

}  // namespace hostler::api
