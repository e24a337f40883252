#include "core/crypto/known_hosts.h"

#include "core/base/text.h"
#include "core/crypto/ssh_keys.h"

namespace hostler::crypto {

Result<std::string> known_hosts_line(std::string_view host, std::uint16_t port,
                                     std::string_view public_key) {
  if (!is_host(host))
    return fail(Errc::kInvalidArgument,
                "'" + printable(host, 80) + "' is not the name or address of a host");
  const auto key = HOSTLER_TRY(parse_public_key(public_key));
  std::string out(host);
  if (port != 22) out = "[" + out + "]:" + std::to_string(port);
  return out + " " + key.line();
}

}  // namespace hostler::crypto
