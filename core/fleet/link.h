#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "core/base/assert.h"
#include "core/base/time.h"
#include "core/fleet/outside_agent.h"
#include "core/model/host.h"

namespace hostler::fleet {

/// The connection to a host, and the evidence that the host is ready. An agent answers only on a
/// connection that is proved. A host that is ready is reachable. A restart forgets all of it.
class Link {
 public:
  OutsideAgent outside;  ///< Of pools with `pushed` only. It has a connection of its own.

  /// It was proved before the restart: it counts as live until the first try to connect has ended.
  void await() {
    HOSTLER_ASSERT(!is_connected(), "a connection that stands is not awaited");
    phase_ = Phase::kAwaited;
  }
  /// A try to connect has ended without a proof.
  void try_failed() {
    if (phase_ == Phase::kAwaited) phase_ = Phase::kNone;
  }
  void proved() {
    if (phase_ != Phase::kAgent) phase_ = Phase::kProved;
  }
  /// The agent answers on this connection, which is proved: attempts may be sent.
  void agent_answers(std::uint64_t connection) {
    phase_ = Phase::kAgent;
    connection_ = connection;
  }
  /// Neither the connection nor the evidence stands any more.
  void lost() {
    phase_ = Phase::kNone;
    ready_ = rotation_ended_ = false;
  }
  /// The evidence that its pool asks for stands: PoolPolicy::readiness. True: until now it was
  /// unreachable.
  [[nodiscard]] bool became_ready() {
    ready_ = true;
    key_alarm_.reset();
    return std::exchange(unreachable_since_, {}).has_value();
  }
  /// A host that was ready, or has work, cannot be reached since then. Again: the time is replaced.
  void set_unreachable(Mono since) {
    HOSTLER_ASSERT(!ready_, "a host that is ready is reachable");
    unreachable_since_ = since;
  }
  /// On this connection the host key is replaced no more: see model::RotationEnded.
  void rotation_ended() { rotation_ended_ = true; }
  /// Nobody expects the host to answer: it is off, or does not exist.
  void stop_expecting() {
    lost();
    unreachable_since_.reset();
  }
  /// Another host answers at its address. The alarm ends when the host is ready again.
  void alarm(Wall at, const std::string& seen_key) {
    HOSTLER_ASSERT(phase_ == Phase::kNone, "the connection to another host is ended");
    if (!key_alarm_) key_alarm_ = model::StandingKeyAlarm{at, {}};
    key_alarm_->seen_key = seen_key;
  }
  /// Lists show another address: for when the connection ends.
  void endpoint_changed() {
    HOSTLER_ASSERT(is_connected(), "without a connection the new address is used at once");
    endpoint_changed_ = true;
  }
  [[nodiscard]] bool take_endpoint_change() { return std::exchange(endpoint_changed_, false); }

  /// A proved connection stands, and the latest ping is not overdue.
  [[nodiscard]] bool is_connected() const {
    return phase_ == Phase::kProved || phase_ == Phase::kAgent;
  }
  /// A proved connection stands, or may stand: whatever a list says, the host exists.
  [[nodiscard]] bool is_live() const { return phase_ != Phase::kNone; }
  /// The connection of the last HostReady stands: attempts may be sent.
  [[nodiscard]] bool has_agent() const { return phase_ == Phase::kAgent; }
  [[nodiscard]] bool is_ready() const { return ready_; }
  [[nodiscard]] const std::optional<Mono>& unreachable_since() const { return unreachable_since_; }
  [[nodiscard]] bool has_ended_rotation() const { return rotation_ended_; }
  /// The connection of the last HostReady.
  [[nodiscard]] std::uint64_t connection() const { return connection_; }
  [[nodiscard]] const std::optional<model::StandingKeyAlarm>& key_alarm() const {
    return key_alarm_;
  }

 private:
  enum class Phase : std::uint8_t { kNone, kAwaited, kProved, kAgent };

  Phase phase_ = Phase::kNone;
  bool ready_ = false;
  bool endpoint_changed_ = false;
  bool rotation_ended_ = false;
  std::uint64_t connection_ = 0;
  std::optional<Mono> unreachable_since_;
  std::optional<model::StandingKeyAlarm> key_alarm_;
};

}  // namespace hostler::fleet
