#include "core/sources/token.h"

#include <algorithm>

#include "core/base/trusted_file.h"

namespace hostler::sources {
namespace {

constexpr std::size_t kTokenMax = std::size_t{16} * 1024;

}  // namespace

Result<std::string> authorization_of(const std::string& token_file) {
  std::string token = HOSTLER_TRY(read_trusted_secret_file(token_file, kTokenMax));
  token.erase(token.find_last_not_of(" \t\r\n") + 1);
  const bool is_clean =
      std::all_of(token.begin(), token.end(), [](char c) { return c >= ' ' && c <= '~'; });
  if (token.empty() || !is_clean)
    return fail(Errc::kInvalidArgument,
                token_file + " is to have one line, the token, without control characters");
  return "Authorization: " + (token.starts_with("Fly") ? token : "Bearer " + token);
}

}  // namespace hostler::sources
