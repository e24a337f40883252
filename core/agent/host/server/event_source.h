#pragma once

#include <cstdint>

namespace hostler::agent {

/// The kinds of descriptors in the server's Poller; passed to it as tags.
enum class EventSource : std::uint32_t {
  kListener,    ///< A `hostler-agent connect` wants to hand over its channel.
  kSignals,     ///< SIGCHLD, SIGTERM or SIGINT.
  kWakePipe,    ///< A shim says that its attempt has new output.
  kControl,     ///< The `connect` process of the session; readable when that process is gone.
  kChannelIn,   ///< Bytes from the daemon.
  kChannelOut,  ///< Room for bytes to the daemon.
  kFoundShim,   ///< The pidfd of a shim that an earlier server forked.
};

}  // namespace hostler::agent
