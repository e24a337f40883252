#pragma once

#include "core/dispatch/handlers/takeover.h"
#include "core/dispatch/state/set_aside.h"

namespace hostler::dispatch {

/// Attempts that a host reports and that can neither be believed nor refuted: their row is damaged,
/// or they may have begun after the backup was made that the state was restored from. They are not
/// ended, and the host keeps their ends and output: it reports them on each connection, also after
/// an admin has corrected the row or started with --restored.
class LeftAlone {
 public:
  LeftAlone(const SetAside& set_aside, const Takeover& takeover, Recorder& recorder)
      : set_aside_(set_aside), takeover_(takeover), recorder_(recorder) {}

  /// Of an attempt that is not placed on the host. True: nothing is done to it, and the host is in
  /// use by it.
  bool take(Host& host, const model::AttemptId& attempt, model::AttemptPhase phase, Now now);

 private:
  const SetAside& set_aside_;
  const Takeover& takeover_;
  Recorder& recorder_;
};

}  // namespace hostler::dispatch
