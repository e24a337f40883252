#pragma once

#include <memory>

#include "core/agent/host/server/connection.h"
#include "core/agent/host/system/os.h"

/// The unix socket in the state folder. Over it, a `hostler-agent connect` process hands its stdin
/// and stdout to the server.
namespace hostler::agent {

inline constexpr const char* kSocketName = "agent.sock";

/// Creates the listening socket in the working directory. Only the agent's own user may connect.
Result<UniqueFd> listen_here();

/// Accepts one connection and receives its descriptors. Null if the peer is another user, or does
/// not send descriptors within a second; blocks that long.
std::unique_ptr<Connection> accept_handover(int listener);

/// Connects to the server of the working directory and hands over stdin and stdout. The result
/// becomes readable when the server closes the connection. kUnavailable: no server is listening.
/// Blocks until the server has answered.
Result<UniqueFd> hand_over();

}  // namespace hostler::agent
