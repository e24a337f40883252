#pragma once

#include <memory>

#include "core/agent/host/server/connection.h"
#include "core/agent/host/system/os.h"

/// Where `connect` and the server meet: a unix socket in the state folder, over which `connect`
/// hands its stdin and stdout to the server.
namespace hostler::agent {

inline constexpr const char* kSocketName = "agent.sock";

/// A listener in the working directory; only the agent's own user may connect.
Result<UniqueFd> listen_here();

/// One connection, with the descriptors that came over it; null if it brought none in time, or is
/// of another user.
std::unique_ptr<Connection> accept_handover(int listener);

/// Connects to the server of the working directory and hands it stdin and stdout. The result stays
/// open as long as the server keeps the connection. kUnavailable: no server there.
Result<UniqueFd> hand_over();

}  // namespace hostler::agent
