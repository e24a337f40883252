#pragma once

#include <cstddef>
#include <string>

#include "core/agent/host/system/os.h"
#include "core/agent/protocol.h"

namespace hostler::agent {

/// The bytes of one connection to the daemon. It reads and writes the stdin and stdout of the
/// `hostler-agent connect` process, which handed its descriptors over, so no other process copies
/// the bytes. Never blocks.
class Connection {
 public:
  Connection(UniqueFd control, UniqueFd in, UniqueFd out)
      : control_(std::move(control)), in_(std::move(in)), out_(std::move(out)) {}

  /// Reads some of the bytes that are available. False: the other side has closed the connection.
  bool read_some();
  /// Writes as much as possible. False: the other side has closed the connection.
  bool write_some();
  /// The next complete message, as Decoder::next().
  Result<std::optional<ToAgent>> next() { return decoder_.next(); }

  /// Queues a message; write_some() sends it. Every message of the agent is within the bounds of
  /// the protocol, so it can be encoded.
  template <class Message>
  void send(const Message& message) {
    (void)encode(message, queue_.end());
  }
  /// Queues the greeting, which comes before all messages.
  void send_greeting() { queue_.end().append(kGreeting); }

  /// Bytes queued and not yet written.
  [[nodiscard]] std::size_t queued() const { return queue_.size(); }
  /// True while few bytes are queued: exits and output are queued only then.
  [[nodiscard]] bool has_room() const { return queued() < kRoom; }
  [[nodiscard]] int control() const { return control_.get(); }
  [[nodiscard]] int in() const { return in_.get(); }
  [[nodiscard]] int out() const { return out_.get(); }

 private:
  static constexpr std::size_t kRoom = std::size_t{256} << 10;

  UniqueFd control_;  ///< To the `connect` process, which ends when this is closed.
  UniqueFd in_;
  UniqueFd out_;
  Decoder<ToAgent> decoder_;
  ByteQueue queue_;
};

}  // namespace hostler::agent
