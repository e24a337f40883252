#pragma once

#include <cstdint>
#include <deque>
#include <utility>

#include "core/agent/host/journal/attempts.h"

namespace hostler::agent {

/// When the journal is to be synced. A crash of the host may cost an attempt its begin, or what the
/// daemon has acknowledged; an end that lies here because the daemon is away must outlive it.
class SyncPlan {
 public:
  /// The attempt's end is in the journal.
  void ended(model::AttemptId id, std::int64_t now_us) { ends_.emplace_back(now_us, id); }
  void synced() { ends_.clear(); }
  /// When the oldest end that `attempts` still has is to be on disk; INT64_MAX: there is none.
  std::int64_t due(Attempts& attempts);

 private:
  std::deque<std::pair<std::int64_t, model::AttemptId>> ends_;  ///< Not synced, oldest first.
};

}  // namespace hostler::agent
