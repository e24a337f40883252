#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/base/error.h"
#include "core/base/time.h"
#include "core/model/push.h"

/// Who may push for a pool, and in which order.
namespace hostler::pushed {

/// The pusher of one pool. One principal pushes at a time: its term ends `max_age` after its last
/// push. A new session of the same principal takes over at once, and the one before is superseded.
class Pusher {
 public:
  Pusher() = default;
  /// After a restart: its term begins anew, so that nobody else takes over meanwhile.
  Pusher(model::PusherRecord record, Mono now, Duration max_age);

  /// kConflict: another principal pushes until its term ends; "superseded": a later session of the
  /// same principal has taken over; a push with this sequence, or a later one, was taken already.
  /// A refused push changes nothing. True: the session is new, so the record has changed.
  [[nodiscard]] Result<bool> take(const std::string& principal, const model::Push& push, Mono now,
                                  Duration max_age);

  /// Without principal: nobody has pushed yet. Its `pool` is as the constructor was told.
  [[nodiscard]] const model::PusherRecord& record() const { return record_; }
  /// 0: no push of the session was taken since the start.
  [[nodiscard]] std::uint64_t sequence() const { return sequence_.value_or(0); }

 private:
  void begin_session(const std::string& principal, const std::string& session);

  model::PusherRecord record_;
  std::optional<std::uint64_t> sequence_;  ///< Of the session; a restart forgets it.
  Mono term_end_{};
};

}  // namespace hostler::pushed
