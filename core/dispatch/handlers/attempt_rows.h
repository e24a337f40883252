#pragma once

#include "core/dispatch/state/host.h"
#include "core/dispatch/state/jobs.h"
#include "core/dispatch/state/recorder.h"

namespace hostler::dispatch {

/// The attempts on a host, and their rows in the journal.
class AttemptRows {
 public:
  AttemptRows(Jobs& jobs, Recorder& recorder) : jobs_(jobs), recorder_(recorder) {}

  /// As the journal keeps a placed attempt.
  [[nodiscard]] static model::AttemptChanged row_of(const Host& host,
                                                    const fleet::PlacedAttempt& attempt);
  /// Nothing more is expected of the attempt: removes it from the host and journals that. If it is
  /// lost while it runs its times are journalled too, for the job's record will hold those of the
  /// next attempt. Called before the job takes its step.
  void finish(Host& host, model::AttemptId attempt, Now now);
  /// As finish(), of an attempt that never ran, whatever its host reported before.
  void withdraw(Host& host, model::AttemptId attempt);
  /// The host may forget the attempt.
  void acknowledge(const Host& host, model::AttemptId attempt);

 private:
  Jobs& jobs_;
  Recorder& recorder_;
};

}  // namespace hostler::dispatch
