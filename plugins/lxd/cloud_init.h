#pragma once

#include <hostler/driver.hpp>
#include <string>

namespace hostler::lxd {

/// What cloud-init has to do in a container beside running the user data: let the keys of the
/// request log in, put the host key in place before sshd starts, and give each boot an id of its
/// own, because containers of one machine share that of the kernel. SECRET. A "#cloud-config".
/// Throws driver::Error(INVALID) on keys that are not lines of text.
std::string vendor_data(const hostler_create_req& request);

}  // namespace hostler::lxd
