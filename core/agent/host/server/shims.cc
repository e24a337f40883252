#include <fcntl.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

#include "core/agent/host/attempt/outputs.h"
#include "core/agent/host/attempt/preparation.h"
#include "core/agent/host/attempt/shim.h"
#include "core/agent/host/attempt/shim_lock.h"
#include "core/agent/host/attempt/spool.h"
#include "core/agent/host/server/server.h"
#include "core/agent/host/system/sweep.h"

/// Attempts and their shims: from the fork, or from being found again, to the attempt's last trace.
namespace hostler::agent {
namespace {

constexpr std::int64_t kIdleUs = 1'000'000;
constexpr std::int64_t kPollUs = 1'000'000;

}  // namespace

/// An attempt without an end: its shim lives, or it was lost in this boot or with another.
void Server::adopt(Attempt& attempt) {
  const pid_t pid = shim_pid(locks_.get(), attempt.begin.sequence);
  if (pid > 0) {
    attempt.pidfd.reset(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0U)));
    if (shim_pid(locks_.get(), attempt.begin.sequence) == pid) return watch_shim(attempt, pid);
    attempt.pidfd.reset();
  }
  // It may have ended since the journal was read.
  journal_.read_new([this](Record&& record) { attempts_.apply(std::move(record)); });
  if (attempt.end) return;
  if (attempt.begin.boot_id != boot_id_)
    attempt.unknown_end = true;
  else
    lost_supervision(attempt);
}

void Server::watch_shim(Attempt& attempt, pid_t pid) {
  attempt.shim = pid;
  if (attempt.pidfd) {
    (void)::fcntl(attempt.pidfd.get(), F_SETFD, FD_CLOEXEC);
    found_shims_[attempt.pidfd.get()] = attempt.begin.attempt;
    watch(attempt.pidfd.get(), Source::kShim, EPOLLIN);
  } else {
    // A kernel before 5.3, or one that is told not to, gives none.
    polled_shims_.insert(attempt.begin.attempt);
    if (poll_at_ == 0) poll_at_ = boottime_us() + kPollUs;
  }
}

void Server::poll_shims() {
  poll_at_ = 0;
  std::vector<model::AttemptId> gone;
  for (const model::AttemptId id : polled_shims_) {
    const Attempt* attempt = attempts_.find(id);
    if (attempt == nullptr || shim_pid(locks_.get(), attempt->begin.sequence) == 0)
      gone.push_back(id);
  }
  on_shims_gone(gone);
  if (!polled_shims_.empty()) poll_at_ = boottime_us() + kPollUs;
}

void Server::signal_shim(const Attempt& attempt, int number) {
  if (attempt.pidfd)
    (void)::syscall(SYS_pidfd_send_signal, attempt.pidfd.get(), number, nullptr, 0U);
  else if (attempt.is_child || shim_pid(locks_.get(), attempt.begin.sequence) == attempt.shim)
    (void)::kill(attempt.shim, number);
}

bool Server::fork_shim(const Start& start, Attempt& attempt) {
  const bool ready = slots_.is_ready(attempt.begin.slot, attempt.begin.uid, cleaner_);
  const auto groups = cgroups_.prepare(attempt.begin.slot, start.ram_max, start.processes_max);
  const pid_t pid = ::fork();
  if (pid == 0) {
    run_shim({.start = start,
              .slot = attempt.begin.slot,
              .uid = attempt.begin.uid,
              .folder_is_ready = ready,
              .cgroups = groups,
              .state_folder = folder_,
              .marker = marker(attempt),
              .started_us = wall_us(),
              .journal = journal_.fd(),
              .wake = wake_.get(),
              .locks = locks_.get()});
  }
  if (pid < 0) return false;
  attempt.shim = pid;
  attempt.is_child = true;
  children_[pid] = start.attempt;
  return true;
}

std::uint32_t Server::uid_of(std::uint32_t slot) const {
  return config_.uid_count == 0 || ::geteuid() != 0 ? 0 : config_.uid_first + slot - 1;
}

void Server::on_signals() {
  signalfd_siginfo infos[4];  // as many as are watched: equal ones are one
  const ssize_t n = ::read(signals_.get(), infos, sizeof infos);
  for (std::size_t i = 0; n > 0 && i < static_cast<std::size_t>(n) / sizeof infos[0]; ++i)
    if (infos[i].ssi_signo != SIGCHLD) quitting_ = true;
  std::vector<model::AttemptId> gone;
  for (;;) {
    int status = 0;
    const pid_t pid = ::waitpid(-1, &status, WNOHANG);
    if (pid <= 0) break;
    const auto found = children_.find(pid);
    if (found == children_.end()) {
      // A check, the cleaner, or an orphan of a shim that was killed.
      if (!cleaner_.on_exit(pid))
        (void)checks_.on_exit(pid, status, [this](auto finding) { report(std::move(finding)); });
      continue;
    }
    gone.push_back(found->second);
    children_.erase(found);
  }
  on_shims_gone(gone);
}

void Server::report(Checks::Finding&& finding) {
  if (!connection_) return;
  if (finding.kind == Check::Kind::kHealthy)
    connection_->send(HostBroken{finding.check, finding.text});
  else
    connection_->send(SpotNotice{finding.text});
}

void Server::on_shims_gone(const std::vector<model::AttemptId>& ids) {
  if (ids.empty()) return;
  read_journal();  // once for all: each wrote its end before it went
  for (const model::AttemptId id : ids) {
    polled_shims_.erase(id);
    Attempt* attempt = attempts_.find(id);
    if (attempt == nullptr) continue;
    if (attempt->pidfd) found_shims_.erase(attempt->pidfd.get());
    attempt->pidfd.reset();
    attempt->shim = 0;
    if (attempt->end) continue;
    lost_supervision(*attempt);
    read_journal();
  }
}

void Server::read_journal() {
  journal_.read_new([this](Record&& record) { attempts_.apply(std::move(record)); });
  const std::set<model::AttemptId> ended = attempts_.take_ended();
  const std::int64_t now = ended.empty() ? 0 : boottime_us();
  for (const model::AttemptId id : ended) {
    sync_plan_.ended(id, now);
    const Attempt* attempt = attempts_.find(id);
    // An end in an older file has to outlive that file.
    if (attempt != nullptr && attempt->journal_number != journal_.number())
      (void)journal_.append(to_record(End{id, *attempt->end, attempt->spooled}));
    if (connection_) unannounced_.push_back(id);
  }
}

/// Its shim is gone and left no end: nobody can say how the job ended.
void Server::lost_supervision(Attempt& attempt) {
  std::set<pid_t> shims;
  for (const auto& [pid, id] : children_) shims.insert(pid);
  checks_.add_pids(shims);
  shims.insert(cleaner_.pid());
  // What limits it had is not known here; with no limit its cgroups are as good to be found by.
  kill_strays(marker(attempt), attempt.begin.uid, shims, cgroups_.folders(attempt.begin.slot));
  End end;
  end.attempt = attempt.begin.attempt;
  end.end.reason = model::EndReason::kSupervisionLost;
  end.end.text = "the process that watched the job was killed; the job was killed after it";
  end.end.started.us = end.end.ended.us = wall_us();
  for (const std::uint32_t stream : {kStdout, kStderr}) {
    struct stat info {};
    if (::stat(spool_path(end.attempt, stream).c_str(), &info) != 0) continue;
    // Where the ring of the tail begins nobody knows: the head is what is left.
    const auto size =
        std::min(static_cast<std::uint64_t>(info.st_size), attempt.begin.output_head_max);
    (stream == kStdout ? end.end.stdout_bytes : end.end.stderr_bytes) = size;
    if (size > 0) end.end.output_is_inline = false;
  }
  (void)journal_.append(to_record(end));
  attempts_.apply(std::move(end));
}

void Server::on_wake() {
  WakeNote notes[256];
  for (;;) {
    const ssize_t n = ::read(wake_.get(), notes, sizeof notes);
    if (n <= 0) return;
    for (std::size_t i = 0; i < static_cast<std::size_t>(n) / sizeof(WakeNote); ++i)
      outflow_.touch({model::WorkId{notes[i].job}, notes[i].number});
  }
}

void Server::forget(model::AttemptId id) {
  const Attempt& attempt = *attempts_.find(id);
  (void)journal_.append(to_record(Forget{id}));
  outflow_.forget(id);
  if (attempt.spooled)
    for (const std::uint32_t stream : {kStdout, kStderr})
      (void)::unlink(spool_path(id, stream).c_str());
  if (!attempt.end || attempt.end->has_output_files) (void)::unlink(files_path(id).c_str());
  if (attempt.begin.has_script) (void)::unlink(script_path(id).c_str());
  slots_.give_back(attempt.begin.slot, attempt.begin.uid, cleaner_);
  if (cgroups_.kind() != Limits::kNone) idle_at_ = boottime_us() + kIdleUs;
  attempts_.apply(Forget{id});
}

std::string Server::marker(const Attempt& attempt) const {
  return "HOSTLER_ATTEMPT_KEY=" + attempts_.state_id + "." + std::to_string(attempt.begin.sequence);
}

}  // namespace hostler::agent
