#pragma once

#include <optional>

#include "core/dispatch/handlers/attempt_rows.h"
#include "core/dispatch/handlers/job_steps.h"
#include "core/dispatch/state/hosts.h"
#include "core/dispatch/state/lost_time.h"

namespace hostler::dispatch {

/// In place of who submitted work, which only the lost part of the journal knew.
inline constexpr const char* kUnknownHolder = "unknown (restored)";

/// Takes over attempts that began after the backup was made that the state was restored from: hosts
/// report them, and the journal does not have them.
class Takeover {
 public:
  Takeover(const model::SitePolicy& policy, Hosts& hosts, const WaitingWork& waiting, Jobs& jobs,
           LostTime& lost_time, Recorder& recorder, AttemptRows& rows, JobSteps& steps)
      : policy_(policy),
        hosts_(hosts),
        waiting_(waiting),
        jobs_(jobs),
        lost_time_(lost_time),
        recorder_(recorder),
        rows_(rows),
        steps_(steps) {}

  /// Gives the reported attempt to its job, which is made if it is not known, and to the host. It
  /// counts as running from now on. False: it is none that is to be taken over.
  bool take(Host& host, const model::AttemptId& attempt, Now now);
  /// Whether the host's report of this work can neither be believed nor refuted: its number was
  /// never given out here, and the host is older than this start.
  [[nodiscard]] bool is_unknown(const Host& host, model::WorkId work) const;

  /// Whether the attempt may be the true one although another one has its place: it is not ended
  /// while it runs, and its end is wanted as long as it may still be taken over.
  [[nodiscard]] bool is_disputed(const Host& host, const model::AttemptId& attempt,
                                 model::AttemptPhase phase) const;
  /// The attempt ended with the boot of its host, and is not taken over yet: a later one of its job
  /// may be on a host that has not reported.
  [[nodiscard]] bool awaits_reports(const model::AttemptId& attempt,
                                    model::AttemptPhase phase) const {
    return phase == model::AttemptPhase::kUnknownEnd && lost_time_.has(attempt.work);
  }
  /// Every other host of before the restore that has an agent has reported its work. O(hosts).
  [[nodiscard]] bool is_last_to_report(const Host& host) const;

 private:
  /// Of a restored job: a later attempt than the one that the journal has.
  bool take_later(Host& host, work::Job& job, const model::AttemptId& attempt, Now now);
  bool take_unknown(Host& host, const model::AttemptId& attempt, Now now);
  /// The job runs this attempt on the host.
  void put(Host& host, work::Job& job, const model::AttemptId& attempt, Now now);

  const model::SitePolicy& policy_;
  Hosts& hosts_;
  const WaitingWork& waiting_;
  Jobs& jobs_;
  LostTime& lost_time_;
  Recorder& recorder_;
  AttemptRows& rows_;
  JobSteps& steps_;
};

}  // namespace hostler::dispatch
