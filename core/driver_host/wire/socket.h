#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "core/base/error.h"
#include "core/base/files.h"

/// The sockets between hostlerd and the process of a driver: connected, and each send is one
/// message (SOCK_SEQPACKET).
namespace hostler::driver_host {

struct SocketPair {
  UniqueFd ours, theirs;
};
/// Both ends block and are close-on-exec.
Result<SocketPair> make_socket_pair();

enum class Sent : std::uint8_t { kSent, kFull, kClosed };

/// Sends one message. kFull: the socket has no room, and it does not block.
Sent send_message(const UniqueFd& socket, std::string_view message, bool block);
/// The same, with a descriptor beside it.
Sent send_with_file(const UniqueFd& socket, std::string_view message, const UniqueFd& file,
                    bool block);

/// One message that was received.
struct Received {
  enum class What : std::uint8_t { kMessage, kNothing, kClosed } what = What::kNothing;
  std::size_t size = 0;  ///< Of the message, in the caller's buffer.
  UniqueFd file = {};    ///< That came with it.
};
/// Receives a message into `buffer`, which has room for kDatagramMax bytes and a head. kNothing: it
/// does not block, and there is none. Descriptors are accepted only if `with_files`.
Received receive_message(const UniqueFd& socket, std::span<char> buffer, bool block,
                         bool with_files);

/// A file in memory with these bytes, to be passed to another process.
Result<UniqueFd> make_memory_file(std::string_view bytes);

}  // namespace hostler::driver_host
