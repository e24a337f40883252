#pragma once

#include <cstddef>
#include <string>

#include "core/agent/host/system/os.h"
#include "core/agent/protocol.h"

namespace hostler::agent {

/// The one connection to the daemon: descriptors that `hostler-agent connect` handed over, so that
/// bytes pass through no other process. Non-blocking.
class Connection {
 public:
  Connection(UniqueFd control, UniqueFd in, UniqueFd out)
      : control_(std::move(control)), in_(std::move(in)), out_(std::move(out)) {}

  /// Reads what there is. False: the other side has hung up.
  bool read_some();
  /// Writes what fits. False: the other side has hung up.
  bool write_some();
  Result<std::optional<ToAgent>> next() { return decoder_.next(); }

  template <class Message>
  void send(const Message& message) {
    // Ours are within the bounds; a text that is not would be a bug that loses one message.
    (void)encode(message, queue_.end());
  }
  void greet() { queue_.end().append(kGreeting); }

  [[nodiscard]] std::size_t queued() const { return queue_.size(); }
  /// So little is queued that what waits for its turn may be sent.
  [[nodiscard]] bool has_room() const { return queued() < kRoom; }
  [[nodiscard]] int control() const { return control_.get(); }
  [[nodiscard]] int in() const { return in_.get(); }
  [[nodiscard]] int out() const { return out_.get(); }

 private:
  static constexpr std::size_t kRoom = std::size_t{256} << 10;

  UniqueFd control_;  ///< To `connect`, which ends when this closes.
  UniqueFd in_;
  UniqueFd out_;
  Decoder<ToAgent> decoder_;
  ByteQueue queue_;
};

}  // namespace hostler::agent
