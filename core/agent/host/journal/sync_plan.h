#pragma once

#include <cstdint>
#include <deque>
#include <utility>

#include "core/agent/host/journal/attempts.h"

namespace hostler::agent {

/// Decides when the journal is synced. A crash of the host may lose a Begin, or an End that the
/// daemon has acknowledged. It must not lose an End that the daemon has not acknowledged, for
/// example because the daemon is down. Pure.
class SyncPlan {
 public:
  /// The End of the attempt was written to the journal at `now_us`.
  void ended(model::AttemptId id, std::int64_t now_us) { ends_.emplace_back(now_us, id); }
  void synced() { ends_.clear(); }
  /// When the journal has to be synced, in the time of `now_us`; INT64_MAX: no End in `attempts`
  /// needs it.
  std::int64_t due(Attempts& attempts);

 private:
  /// Time and attempt of each End that is not synced, oldest first.
  std::deque<std::pair<std::int64_t, model::AttemptId>> ends_;
};

}  // namespace hostler::agent
