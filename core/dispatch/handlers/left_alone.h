#pragma once

#include "core/dispatch/handlers/takeover.h"
#include "core/dispatch/state/leases.h"
#include "core/dispatch/state/set_aside.h"

namespace hostler::dispatch {

/// Attempts that a host reports and that can neither be believed nor refuted: their row is damaged,
/// or they may have begun after the backup was made that the state was restored from. They are not
/// ended, and the host keeps their ends and output: it reports them on each connection, also after
/// an admin has corrected the row or started with --restored. A host that was empty when it was
/// lent has none: its holder could keep it with them.
class LeftAlone {
 public:
  LeftAlone(const SetAside& set_aside, const Leases& leases, const Takeover& takeover,
            Recorder& recorder)
      : set_aside_(set_aside), leases_(leases), takeover_(takeover), recorder_(recorder) {}

  /// Of an attempt that is not placed on the host. True: nothing is done to it, and the host is in
  /// use by it.
  bool take(Host& host, const model::AttemptId& attempt, model::AttemptPhase phase, Now now);

 private:
  /// It is lent, and its lease is not one of a backup: nothing was on it when it was lent.
  [[nodiscard]] bool was_empty(const Host& host) const;

  const SetAside& set_aside_;
  const Leases& leases_;
  const Takeover& takeover_;
  Recorder& recorder_;
};

}  // namespace hostler::dispatch
