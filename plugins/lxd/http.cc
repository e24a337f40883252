#include "http.h"

namespace hostler::lxd {
namespace {

http::Server server_of(const Config& config, const Credentials& credentials) {
  http::Server out;
  out.socket = config.socket;
  out.base = config.url;
  out.pin = config.server_certificate_sha256;
  out.ca_file = config.ca_file;
  out.client_certificate = credentials.client_certificate;
  out.client_key = credentials.client_key;
  out.headers = {"Expect:", "Content-Type: application/json"};
  out.untrusted_hint = "set `server_certificate_sha256` or `ca_file`";
  out.other_pin_hint = "check `server_certificate_sha256`";
  out.unreadable_hint = "check `ca_file`, and name the file in `readable` of the set";
  out.forbidden_hint =
      "the set needs `sandbox`: \"files\", and the daemon's user the socket's group";
  out.unknown_hint = "check `url`";
  out.too_long_hint = "fewer instances or less user data in this project";
  return out;
}

}  // namespace

Http::Http(const Config& config, const Credentials& credentials)
    : Client(server_of(config, credentials)) {}

}  // namespace hostler::lxd
