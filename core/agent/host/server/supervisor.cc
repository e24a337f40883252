#include "core/agent/host/server/supervisor.h"

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "core/agent/host/attempt/notice_file.h"
#include "core/agent/host/attempt/outputs.h"
#include "core/agent/host/attempt/preparation.h"
#include "core/agent/host/attempt/spool.h"
#include "core/agent/host/server/start_check.h"
#include "core/agent/host/system/boot.h"
#include "core/agent/host/system/os.h"
#include "core/agent/host/system/sweep.h"

namespace hostler::agent {
namespace {

constexpr std::int64_t kIdleUs = 1'000'000;

}  // namespace

Result<void> Supervisor::open(const std::string& folder) {
  folder_ = folder;
  boot_id_ = hostler::agent::boot_id();
  HOSTLER_TRY(slots_.open());
  if (::mkdir("out", 0711) != 0 && errno != EEXIST) return tl::unexpected(os_error("create out"));
  HOSTLER_TRY(shims_.open());
  cleaner_.open();
  HOSTLER_TRY(log_.open());
  // Elsewhere jobs run without limits, and AttemptEnd::limits_enforced is false.
  cgroups_.open("hostler-agent-" + log_.state_id(),
                ::geteuid() == 0 && is_in_first_pid_namespace());
  card_holders_.open();
  for (const auto& [id, attempt] : log_.all()) {
    slots_.occupy(attempt.begin.slot);
    cgroups_.adopt(attempt.begin.slot);
  }
  cgroups_.remove_idle(slots_.used());  // what was tried to find the guard of cards
  for (const auto& [id, attempt] : log_.all())
    if (!attempt.end) adopt(attempt);
  (void)log_.take_ended();  // the listing of the next session names them
  slots_.discard_rest(cleaner_);
  log_.rotate();  // leaves torn records and forgotten attempts behind
  return {};
}

Limits Supervisor::limits() const {
  const auto version = cgroups_.limits();
  if (version == Cgroups::Version::kNone) return Limits::kNone;
  return version == Cgroups::Version::kV2 ? Limits::kCgroupV2 : Limits::kCgroupV1;
}

void Supervisor::close() {
  card_holders_.close();
  cgroups_.remove_idle(slots_.used());
  log_.sync();
}

void Supervisor::set_uids(std::uint32_t first, std::uint32_t count) {
  uid_first_ = first;
  // uid 0 is the agent's own. An ordinary user cannot change uids.
  uid_count_ = first == 0 || ::geteuid() != 0 ? 0 : count;
  card_holders_.set_own_uids(uid_count_ != 0);
}

// ---- the life of an attempt --------------------------------------------------------------------

std::variant<Started, Refused> Supervisor::start(const Start& start) {
  HostFacts facts{boot_id_, log_.last_sequence(), log_.all().size(),
                  log_.find(start.attempt) != nullptr, descriptors_max()};
  if (!start.cards.empty()) facts.holders = card_holders_.by_name();
  if (auto refused = check_start(start, facts)) return *std::move(refused);
  const auto slot = slots_.take(uid_count_);
  if (!slot)
    return Refused{start.attempt, Refused::Why::kBusy,
                   "all " + std::to_string(uid_count_) + " uids for jobs are in use"};
  const std::uint32_t uid = uid_count_ == 0 ? 0 : uid_first_ + *slot - 1;
  const Begin begin{.attempt = start.attempt,
                    .sequence = start.sequence,
                    .boot_id = boot_id_,
                    .slot = *slot,
                    .uid = uid,
                    .has_script = !start.script.empty(),
                    .output_head_max = start.output_head_max,
                    .output_tail_max = start.output_tail_max,
                    .cards = start.cards,
                    .files = start.files};
  if (const auto logged = log_.begin(begin); !logged) {
    slots_.give_back(begin.slot, begin.uid, cleaner_);
    return Refused{start.attempt, Refused::Why::kInternal, logged.error().message};
  }
  const std::int64_t now = wall_us();
  const auto forked = fork_shim(start, begin);
  if (forked) return Started{start.attempt, now};
  Refused refused{start.attempt, Refused::Why::kInternal, forked.error().message};
  remove(start.attempt);
  return refused;
}

/// The processes of the job enter these cgroups before they execute its command.
Result<void> Supervisor::fork_shim(const Start& start, const Begin& begin) {
  SlotCgroups::Place place = cgroups_.prepare(begin.slot, {start.ram_max, start.processes_max},
                                              card_holders_.need_cgroups());
  HOSTLER_TRY(card_holders_.admit(begin));
  const bool ready = slots_.is_ready(begin.slot, begin.uid, cleaner_);
  const bool forked = shims_.fork({.start = start,
                                   .slot = begin.slot,
                                   .uid = begin.uid,
                                   .folder_is_ready = ready,
                                   .cgroups = std::move(place.folders),
                                   .has_limits = place.has_limits,
                                   .state_folder = folder_,
                                   .marker = marker(begin),
                                   .started_us = wall_us(),
                                   .boottime_us = boottime_us(),
                                   .journal = log_.fd()});
  if (!forked) return tl::unexpected(os_error("fork"));
  return {};
}

void Supervisor::kill(model::AttemptId id, bool at_once) {
  shims_.signal(id, at_once ? SIGUSR1 : SIGTERM);
}

void Supervisor::interrupt(const Interrupt& notice) {
  const Attempt* attempt = log_.find(notice.attempt);
  if (attempt == nullptr || attempt->phase() != Phase::kRunning) return;
  // Shims of agents before this one ignore the signal, as it is ignored by default.
  if (write_notice(notice, boottime_us())) shims_.signal(notice.attempt, SIGURG);
}

bool Supervisor::forget(model::AttemptId id) {
  const Attempt* attempt = log_.find(id);
  if (attempt == nullptr || attempt->phase() == Phase::kRunning) return false;
  remove(id);
  return true;
}

/// Forgets the attempt, removes its files, and frees its slot.
void Supervisor::remove(model::AttemptId id) {
  const Attempt attempt = log_.forget(id);
  if (attempt.spooled)
    for (const std::uint32_t stream : {kStdout, kStderr})
      (void)::unlink(spool_path(id, stream).c_str());
  if (!attempt.end || attempt.end->has_output_files) (void)::unlink(files_path(id).c_str());
  (void)::unlink(notice_path(id).c_str());
  if (attempt.begin.has_script) (void)::unlink(script_path(id).c_str());
  slots_.give_back(attempt.begin.slot, attempt.begin.uid, cleaner_);
  card_holders_.on_removed();
  if (cgroups_.has_any()) idle_at_ = boottime_us() + kIdleUs;
}

std::string Supervisor::marker(const Begin& begin) const {
  return "HOSTLER_ATTEMPT_KEY=" + log_.state_id() + "." + std::to_string(begin.sequence);
}

// ---- shims that end ----------------------------------------------------------------------------

/// The journal of an earlier server has no End of this attempt. Either its shim lives, or the End
/// was written a moment ago, or the shim was killed in this boot, or the host was rebooted.
void Supervisor::adopt(const Attempt& attempt) {
  const model::AttemptId id = attempt.begin.attempt;
  if (shims_.find(id, attempt.begin.sequence)) return;
  log_.read_new();
  if (attempt.end) return;
  if (attempt.begin.boot_id != boot_id_)
    log_.set_unknown_end(id);
  else
    end_lost(attempt);
}

void Supervisor::on_pidfd(int pidfd) {
  if (const auto id = shims_.take_found(pidfd)) gone_.push_back(*id);
}

bool Supervisor::on_child_exit(pid_t pid) {
  const auto id = shims_.take_child(pid);
  if (id) gone_.push_back(*id);
  return id || cleaner_.on_exit(pid);
}

std::set<model::AttemptId> Supervisor::take_ended() {
  for (const model::AttemptId id : shims_.take_polled()) gone_.push_back(id);
  if (gone_.empty()) return {};
  std::set<model::AttemptId> ended = log_.take_ended();
  for (const model::AttemptId id : std::exchange(gone_, {})) {
    const Attempt* attempt = log_.find(id);
    if (attempt == nullptr || attempt->end) continue;
    end_lost(*attempt);
    ended.merge(log_.take_ended());
  }
  return ended;
}

/// The shim is gone and left no End, so how the job ended is unknown. Kills the job's processes.
void Supervisor::end_lost(const Attempt& attempt) {
  std::set<pid_t> ours;
  shims_.add_children(ours);
  checks_.add_pids(ours);
  cards_.add_pids(ours);
  ours.insert(cleaner_.pid());
  // Whether the job had limits is unknown. A cgroup without limits contains its processes, too.
  kill_strays(marker(attempt.begin), attempt.begin.uid, ours, cgroups_.folders(attempt.begin.slot));
  End end;
  end.attempt = attempt.begin.attempt;
  end.end.reason = model::EndReason::kSupervisionLost;
  end.end.text = "the process that watched the job was killed; the job was killed after it";
  end.end.started.us = end.end.ended.us = wall_us();
  for (const std::uint32_t stream : {kStdout, kStderr}) {
    struct stat info {};
    if (::stat(spool_path(end.attempt, stream).c_str(), &info) != 0) continue;
    // Only the shim knew where the ring buffer of the tail begins: keep the head alone.
    const auto size =
        std::min(static_cast<std::uint64_t>(info.st_size), attempt.begin.output_head_max);
    (stream == kStdout ? end.end.stdout_bytes : end.end.stderr_bytes) = size;
    if (size > 0) end.end.output_is_inline = false;
  }
  log_.end(end);
}

// ---- timed work --------------------------------------------------------------------------------

void Supervisor::tick() {
  cleaner_.tick();
  if (idle_at_ != 0 && boottime_us() >= idle_at_) {
    cgroups_.remove_idle(slots_.used());
    idle_at_ = 0;
  }
  log_.tick();
}

std::int64_t Supervisor::due() {
  return std::min({shims_.due(), log_.due(), idle_at_ != 0 ? idle_at_ : INT64_MAX});
}

}  // namespace hostler::agent
