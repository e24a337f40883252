#include "core/cli/print.h"

#include <cstdio>

#include "core/base/text.h"
#include "core/json/writer.h"

namespace hostler::cli {
namespace {

constexpr std::size_t kLineMax = std::size_t{64} << 10;

}  // namespace

void say(std::string_view line) { std::puts(printable(line, kLineMax).c_str()); }

void warn(std::string_view line) {
  std::fprintf(stderr, "hostler: %s\n", printable(line, kLineMax).c_str());
}

int complain(const Error& error) {
  warn(error.message);
  switch (error.code) {
    case Errc::kUnavailable:
      return exit_code::kNoDaemon;
    case Errc::kNotFound:
      return exit_code::kNotFound;
    case Errc::kForbidden:
    case Errc::kConflict:
      return exit_code::kRefused;
    case Errc::kInvalidArgument:
    case Errc::kTooLarge:
      return exit_code::kUsage;
    case Errc::kOverQuota:
      return exit_code::kOverQuota;
    default:
      return exit_code::kFailed;
  }
}

int print_json(json::Value answer) {
  std::puts(json::to_text(answer).c_str());
  return exit_code::kOk;
}

std::string padded(std::string text, std::size_t width) {
  if (text.size() < width) text.resize(width, ' ');
  return text;
}

std::string field(json::Value value, const char* key) {
  return value.has(key) ? std::string(value.at(key).text()) : std::string();
}

}  // namespace hostler::cli
