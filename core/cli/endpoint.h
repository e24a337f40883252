#pragma once

#include <string>

#include "core/base/error.h"

namespace hostler::cli {

/// The address of the daemon and the credentials for it; see find().
struct Endpoint {
  std::string url;          ///< As shown: "unix:///run/hostler/hostler.sock", "https://host:port".
  std::string socket_path;  ///< For unix URLs.
  std::string base;         ///< Prefix of request URLs: "http://localhost", or the URL itself.
  std::string token;        ///< Empty: none. A secret.
  std::string ca_file;      ///< For https; empty: the system's.

  /// Takes the address from `url`, else from HOSTLER_URL, else from the default socket; the token
  /// from `token_file`, else from the file in HOSTLER_TOKEN_FILE; the certificates from `ca_file`,
  /// else from the file in HOSTLER_CA_FILE. Blocks to read the token.
  static Result<Endpoint> find(const std::string& url, const std::string& token_file,
                               const std::string& ca_file = {});
};

}  // namespace hostler::cli
