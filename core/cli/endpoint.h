#pragma once

#include <string>

#include "core/base/error.h"

namespace hostler::cli {

/// Where the daemon is and who asks; see find().
struct Endpoint {
  std::string url;          ///< As shown: "unix:///run/hostler/hostler.sock", "https://host:port".
  std::string socket_path;  ///< For unix URLs.
  std::string base;         ///< What requests are sent to: "http://localhost" or the URL.
  std::string token;        ///< Empty: none. A secret.
  std::string ca_file;      ///< For https; empty: the system's.

  /// By `url`, else HOSTLER_URL, else the default socket; the token from `token_file`, else the
  /// file that HOSTLER_TOKEN_FILE names; likewise the certificates.
  static Result<Endpoint> find(const std::string& url, const std::string& token_file,
                               const std::string& ca_file = {});
};

}  // namespace hostler::cli
