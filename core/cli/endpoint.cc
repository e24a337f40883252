#include "core/cli/endpoint.h"

#include <arpa/inet.h>
#include <curl/curl.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <system_error>

#include "core/base/files.h"
#include "core/config/places.h"

namespace hostler::cli {
namespace {

constexpr std::size_t kTokenMax = 4096;

/// A group's members count as others: who shares a token by a group cannot be told apart.
Result<void> check_token_file(const UniqueFd& fd, const std::string& file) {
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0 || !S_ISREG(info.st_mode))
    return fail(Errc::kInvalidArgument, "token file: " + file + " is not a regular file");
  if (info.st_uid != 0 && info.st_uid != ::geteuid())
    return fail(Errc::kInvalidArgument, "token file: " + file + " belongs to uid " +
                                            std::to_string(info.st_uid) +
                                            ", which is neither this user nor root");
  if ((info.st_mode & 077U) == 0) return {};
  std::array<char, 8> mode{};
  std::snprintf(mode.data(), mode.size(), "%04o", info.st_mode & 07777U);
  return fail(Errc::kInvalidArgument, "token file: " + file + " has mode " + mode.data() +
                                          ", so that others can use the token; chmod 600 it, and " +
                                          "replace the token if others may have read it");
}

Result<std::string> read_token(const std::string& file) {
  // Not blocking: a pipe that nobody writes to would hang here.
  const UniqueFd fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd)
    return fail(Errc::kInvalidArgument, "token file: " + errno_error("open " + file).message);
  HOSTLER_TRY(check_token_file(fd, file));
  std::string text(kTokenMax + 1, '\0');
  const ssize_t got = ::read(fd.get(), text.data(), text.size());
  if (got < 0)
    return fail(Errc::kInvalidArgument, "token file: " + errno_error("read " + file).message);
  text.resize(static_cast<std::size_t>(got));
  if (text.size() > kTokenMax)
    return fail(Errc::kInvalidArgument,
                "token file: " + file + " is larger than " + std::to_string(kTokenMax) + " bytes");
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
  if (text.empty()) return fail(Errc::kInvalidArgument, "token file: " + file + " is empty");
  return text;
}

/// The host of a URL as curl will take it; empty if it is no URL.
std::string host_of(const std::string& url) {
  const std::unique_ptr<CURLU, void (*)(CURLU*)> parsed(curl_url(), curl_url_cleanup);
  if (!parsed || curl_url_set(parsed.get(), CURLUPART_URL, url.c_str(), 0) != CURLUE_OK) return {};
  char* host = nullptr;
  if (curl_url_get(parsed.get(), CURLUPART_HOST, &host, 0) != CURLUE_OK) return {};
  std::string out = host;
  curl_free(host);
  return out;
}

/// Whether a connection to the host stays on this machine, whatever a name server says.
bool is_loopback(const std::string& host) {
  if (host == "localhost" || host == "[::1]") return true;
  in_addr address{};
  return ::inet_pton(AF_INET, host.c_str(), &address) == 1 && (ntohl(address.s_addr) >> 24U) == 127;
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
  if (out.url.starts_with("unix:///")) {
    out.socket_path = out.url.substr(7);
    out.base = "http://localhost";
  } else if (!host_of(out.url).empty() &&
             (out.url.starts_with("http://") || out.url.starts_with("https://"))) {
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
  if (!out.token.empty() && out.url.starts_with("http://") && !is_loopback(host_of(out.url)))
    return fail(Errc::kInvalidArgument,
                out.url + ": a token is not sent over plain http, where the network can read it, " +
                    "except to this machine (127.0.0.1, [::1], localhost); use https:// and, " +
                    "if the daemon's certificate is the site's own, --ca-file");
  out.ca_file = ca_file;
  if (const char* named = std::getenv("HOSTLER_CA_FILE"); out.ca_file.empty() && named != nullptr)
    out.ca_file = named;
  return out;
}

}  // namespace hostler::cli
