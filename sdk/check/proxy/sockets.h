#pragma once

#include <cstdint>
#include <string>

#include "core/base/error.h"
#include "core/base/files.h"

/// What the fault proxy does with sockets. All have descriptors of the kit (kit_descriptors.h).
namespace hostler::check {

/// A socket that listens on 127.0.0.1; `port` gets its port.
Result<UniqueFd> listen_on_loopback(int backlog, std::uint16_t& port);
/// Connects, and waits for that. The socket that is returned does not block. Empty: nobody is
/// there.
UniqueFd connect_to(const std::string& host, const std::string& port);
/// When it is closed, the other side gets an error and not an end.
void reset_at_close(const UniqueFd& fd);
/// Appends what has come. False: the other side has ended, or is broken.
bool receive(const UniqueFd& fd, std::string& to);
/// Sends as much as is possible without waiting, and removes it from `from`. False: the other side
/// is broken.
bool send_some(const UniqueFd& fd, std::string& from);

}  // namespace hostler::check
