#include "core/cli/endpoint.h"

#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "core/base/files.h"
#include "core/config/places.h"

namespace hostler::cli {
namespace {

Result<std::string> read_token(const std::string& file) {
  auto token = read_file(file, 4096);
  if (!token) return fail(Errc::kInvalidArgument, "token file: " + token.error().message);
  while (!token->empty() && (token->back() == '\n' || token->back() == '\r')) token->pop_back();
  if (token->empty()) return fail(Errc::kInvalidArgument, "token file: " + file + " is empty");
  return token;
}

/// The socket of this user's daemon if it exists, else of the system's daemon if that exists.
std::filesystem::path default_socket() {
  const auto around = config::Surroundings::of_this_process();
  auto own = config::default_socket(around, config::default_state_dir(around));
  auto systems = config::default_socket({.is_root = true}, {});
  std::error_code ignored;
  if (!std::filesystem::exists(own, ignored) && std::filesystem::exists(systems, ignored))
    return systems;
  return own;
}

}  // namespace

Result<Endpoint> Endpoint::find(const std::string& url, const std::string& token_file,
                                const std::string& ca_file) {
  Endpoint out;
  out.url = url;
  if (const char* named = std::getenv("HOSTLER_URL"); out.url.empty() && named != nullptr)
    out.url = named;
  if (out.url.empty()) {
    out.url = "unix://" + default_socket().string();
  }
  if (out.url.starts_with("unix://")) {
    out.socket_path = out.url.substr(7);
    out.base = "http://localhost";
  } else if (out.url.starts_with("http://") || out.url.starts_with("https://")) {
    out.base = out.url;
    while (out.base.ends_with('/')) out.base.pop_back();
  } else {
    return fail(Errc::kInvalidArgument,
                "'" + out.url + "': a URL is unix:///path, http://host:port or https://host:port");
  }
  std::string file = token_file;
  if (const char* named = std::getenv("HOSTLER_TOKEN_FILE"); file.empty() && named != nullptr)
    file = named;
  if (!file.empty()) out.token = HOSTLER_TRY(read_token(file));
  out.ca_file = ca_file;
  if (const char* named = std::getenv("HOSTLER_CA_FILE"); out.ca_file.empty() && named != nullptr)
    out.ca_file = named;
  return out;
}

}  // namespace hostler::cli
