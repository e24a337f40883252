#pragma once

#include <optional>
#include <string>

#include "core/model/host.h"
#include "core/work/job.h"
#include "core/work/outcome.h"

/// The state machine of a job and its attempts (docs/states.md has its table). An attempt starts at
/// most once. The next attempt begins only after it is certain that this one never started, or that
/// it ended, or that its instance is gone. Pure, as core/fleet is.
namespace hostler::work {

/// The scheduler chose an instance for a queued job.
[[nodiscard]] Outcome placed(Job& job, model::InstanceId instance, Now now);
/// The host reports that the attempt runs, since `at` by its clock.
[[nodiscard]] Outcome started(Job& job, Wall at, Now now);
/// The host does not have the attempt. If it was not known to run, it never started: the job is
/// queued again (held, if it is of a restored state) and the start does not count. Else the attempt
/// is lost.
[[nodiscard]] Outcome never_started(Job& job, const std::string& why, Now now);
/// The host could not start the attempt: it never started, also where the host has reported it
/// running before. The job ends once as many different hosts as it allows could not start it;
/// `counts`: this one is among them.
[[nodiscard]] Outcome refused(Job& job, const std::string& why, Now now, bool counts = true);
/// The job waits because its attempt was lost with its instance. Now the instance is listed again,
/// and its host still has the attempt: it becomes the present attempt again.
[[nodiscard]] Outcome found_again(Job& job, Now now);
/// Of a restored job that starts or runs: the host of a later attempt reports it, so the present
/// one is over. It is held until taken_over().
[[nodiscard]] Outcome superseded(Job& job, const std::string& why);
/// A host has this attempt of a job that is held or waits, which began after the backup was made.
/// It counts as running, at most since `from`.
[[nodiscard]] Outcome taken_over(Job& job, std::uint32_t attempt, model::InstanceId instance,
                                 Wall from, Now now);
/// The end of the present attempt, with times that may be billed. Its duration is that which the
/// host reports, but not more than the time from `placed` to now. Start and end are moved into this
/// interval, because the clock of the host may be wrong.
[[nodiscard]] model::AttemptEnd as_seen(const Job& job, model::AttemptEnd end, Now now);
/// The host reports the end of the attempt, as_seen().
[[nodiscard]] Outcome exited(Job& job, const model::AttemptEnd& end, Now now);
/// The output is complete, or `lost` says why part of it is lost.
[[nodiscard]] Outcome collected(Job& job, const std::string& lost, Now now);
/// The instance is gone, or came back with another boot id and without the end of the attempt.
/// `was_announced`: its cloud had said so before, and the attempt does not count.
[[nodiscard]] Outcome host_gone(Job& job, const std::string& why, Now now,
                                bool was_announced = false);
/// Its host will be interrupted: a restartable job is to end there. It is queued again after that,
/// and the attempt does not count.
[[nodiscard]] Outcome interrupt(Job& job, const std::string& why);
/// It would be queued again if its host were interrupted now.
[[nodiscard]] bool survives_interruption(const Job& job);
/// An admin lets a held job wait for a host. No effect in another state. Its next attempt is far
/// above those that may have begun since.
[[nodiscard]] Outcome release(Job& job, const std::string& actor);
/// A user or admin cancels the job.
[[nodiscard]] Outcome cancel(Job& job, const std::string& actor, Now now);

}  // namespace hostler::work
