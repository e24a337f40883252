#pragma once

#include "core/dispatch/events.h"
#include "core/dispatch/handlers/attempt_events.h"
#include "core/dispatch/handlers/disk_events.h"
#include "core/dispatch/state/hosts.h"
#include "core/dispatch/state/jobs.h"
#include "core/dispatch/state/principals.h"
#include "core/dispatch/state/recorder.h"

namespace hostler::dispatch {

/// Follows the output of attempts that have ended, and gives it up: when somebody says so, and when
/// a host that can send it does not.
class OutputEvents {
 public:
  OutputEvents(Hosts& hosts, Jobs& jobs, const Principals& principals, Recorder& recorder,
               AttemptEvents& attempts, DiskEvents& disk)
      : hosts_(hosts),
        jobs_(jobs),
        principals_(principals),
        recorder_(recorder),
        attempts_(attempts),
        disk_(disk) {}

  void on(Host& host, const model::OutputProgress& event, Now now);
  void on(const GiveUpOutput& event, Now now);
  /// Gives up output that is overdue.
  void fire_due(Now now);

 private:
  [[nodiscard]] Result<void> check(const GiveUpOutput& event) const;

  Hosts& hosts_;
  Jobs& jobs_;
  const Principals& principals_;
  Recorder& recorder_;
  AttemptEvents& attempts_;
  DiskEvents& disk_;
};

}  // namespace hostler::dispatch
