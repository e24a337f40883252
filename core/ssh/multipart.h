#pragma once

#include <string>
#include <string_view>

namespace hostler::ssh {

/// User data for cloud-init: a cloud-config and a script, as a MIME message (RFC 2046). The script
/// runs after all that the cloud-config says, its `runcmd` too. Both are UTF-8.
std::string make_multipart(std::string_view cloud_config, std::string_view script);

}  // namespace hostler::ssh
