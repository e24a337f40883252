#pragma once

#include <string>

#include "core/dispatch/handlers/instance_steps.h"
#include "core/dispatch/handlers/interruptions.h"
#include "core/dispatch/handlers/left_alone.h"
#include "core/dispatch/handlers/lending.h"
#include "core/dispatch/state/host_viewer.h"

namespace hostler::dispatch {

/// Places work on hosts, and follows the attempts of jobs until nothing more is expected of them.
class AttemptEvents {
 public:
  AttemptEvents(const model::SitePolicy& policy, const WaitingWork& waiting, Jobs& jobs,
                const SetAside& set_aside, const HostViewer& viewer, PlanState& plan,
                Recorder& recorder, AttemptRows& rows, Takeover& takeover, LeftAlone& left_alone,
                JobSteps& job_steps, Lending& lending, InstanceSteps& steps,
                Interruptions& interruptions)
      : policy_(policy),
        waiting_(waiting),
        jobs_(jobs),
        set_aside_(set_aside),
        viewer_(viewer),
        plan_(plan),
        recorder_(recorder),
        rows_(rows),
        takeover_(takeover),
        left_alone_(left_alone),
        job_steps_(job_steps),
        lending_(lending),
        steps_(steps),
        interruptions_(interruptions) {}

  /// Puts the first job of the class on the host, or lends the host to the first lease of the
  /// class. False if it does not fit any more.
  bool place(Host& host, demand::ClassId cls, Now now);
  /// Calls Lending::place_gang().
  bool place_gang(const std::vector<Host*>& hosts, demand::ClassId cls, Now now) {
    return lending_.place_gang(hosts, cls, now);
  }
  /// Fills the room of a host at once, in the order of the queue. A new host first gets what it was
  /// made for: others would need hosts that nobody has bought.
  void fill(Host& host, Now now);

  void on(Host& host, const model::AttemptStarted& event, Now now);
  void on(Host& host, const model::AttemptRefused& event, Now now);
  void on(Host& host, const model::AttemptExited& event, Now now);
  void on(Host& host, const model::AttemptCollected& event, Now now) {
    collected(host, event.attempt, event.lost, now);
  }
  /// The output is here, or `lost` says why a part of it never comes; the host may free its copy.
  void collected(Host& host, model::AttemptId attempt, const std::string& lost, Now now);
  /// A new connection reports all attempts that its host knows. One that was sent and that the host
  /// does not know never started (same boot), or counts as started and lost (another boot).
  void compare(Host& host, const model::HostReady& report, Now now);
  /// Attempts that are left alone are judged again: what else there is to believe may have changed.
  void judge_left_alone(Host& host, Now now);

 private:
  using Reported = fleet::Occupancy::LeftAlone;

  /// Of fill(): puts a job on the host that the host was made for, unless `next` is more urgent.
  /// False: there is none any more.
  bool place_own(Host& host, demand::ClassId next, Now now);
  bool place_job(Host& host, demand::ClassId cls, Now now);

  /// Of compare(): a broken host does not report an attempt that was sent to it.
  void blame(Host& host, work::Job& job, const fleet::PlacedAttempt& ours, Now now);
  /// Of compare(): the host does not report an attempt of ours.
  void missing(Host& host, work::Job& job, const fleet::PlacedAttempt& ours,
               const std::string& boot_id, Now now);
  /// Of compare(): the host reports it. True: it goes on, or its end is still to come.
  bool known(Host& host, work::Job& job, const fleet::PlacedAttempt& ours,
             model::AttemptPhase phase, Now now);
  /// Of compare(): lost attempts of jobs that wait again. The instance had vanished and is there
  /// again, so they go on.
  void take_found(Host& host, Reported& reported, model::ResumeAttempts& resume, Now now);
  /// The end of an attempt that is not placed there.
  void end_unplaced(Host& host, const model::AttemptId& attempt, Now now);
  /// Of compare(): attempts that began after the backup was made that the state is restored from. A
  /// lent host takes none.
  void take_over(Host& host, Reported& reported, model::ResumeAttempts& resume, Now now);
  /// Of compare(): attempts that no longer belong to a job. An earlier daemon has acknowledged
  /// them, or they were cancelled. Others are left alone.
  void end_foreign(Host& host, const Reported& foreign, Now now);

  const model::SitePolicy& policy_;
  const WaitingWork& waiting_;
  Jobs& jobs_;
  const SetAside& set_aside_;
  const HostViewer& viewer_;
  PlanState& plan_;
  Recorder& recorder_;
  AttemptRows& rows_;
  Takeover& takeover_;
  LeftAlone& left_alone_;
  JobSteps& job_steps_;
  Lending& lending_;
  InstanceSteps& steps_;
  Interruptions& interruptions_;
};

}  // namespace hostler::dispatch
