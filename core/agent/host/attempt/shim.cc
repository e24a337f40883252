#include "core/agent/host/attempt/shim.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <utility>

#include "core/agent/host/attempt/inputs.h"
#include "core/agent/host/attempt/job_output.h"
#include "core/agent/host/attempt/notice_file.h"
#include "core/agent/host/attempt/outputs.h"
#include "core/agent/host/attempt/preparation.h"
#include "core/agent/host/attempt/shim_lock.h"
#include "core/agent/host/attempt/slots.h"
#include "core/agent/host/journal/journal.h"
#include "core/agent/host/system/launch.h"
#include "core/agent/host/system/sweep.h"
#include "core/base/cgroups.h"

namespace hostler::agent {
namespace {

constexpr int kEndTriesMax = 300;
constexpr std::int64_t kNever = INT64_MAX;

volatile sig_atomic_t g_child_ended = 0;
volatile sig_atomic_t g_term_requested = 0;
volatile sig_atomic_t g_kill_requested = 0;
volatile sig_atomic_t g_notice_came = 0;

void on_signal(int number) {
  if (number == SIGCHLD) g_child_ended = 1;
  if (number == SIGTERM) g_term_requested = 1;
  if (number == SIGUSR1) g_kill_requested = 1;
  if (number == SIGURG) g_notice_came = 1;
}

void install_signal_handlers() {
  sigset_t all;
  ::sigfillset(&all);
  ::sigprocmask(SIG_SETMASK, &all, nullptr);
  struct sigaction action {};
  action.sa_handler = on_signal;
  for (const int number : {SIGCHLD, SIGTERM, SIGUSR1, SIGURG})
    ::sigaction(number, &action, nullptr);
}

/// Closes all descriptors but stdin, stdout, stderr and the three arguments. `journal` and `wake`
/// get new numbers.
void close_others(int& journal, int& wake, int& locks) {
  // `locks` keeps its number: closing any descriptor of that file would release the lock.
  constexpr int kHigh = 64;
  const auto moved = [](int fd) {
    const int copy = ::fcntl(fd, F_DUPFD_CLOEXEC, kHigh);
    return copy < 0 ? fd : copy;  // There may be no such number.
  };
  const int new_journal = moved(journal);
  const int new_wake = moved(wake);
  const auto close_range = [](unsigned first, unsigned last) {
    if (first > last) return;
    if (::syscall(SYS_close_range, first, last, 0U) == 0) return;
    for (unsigned fd = first; fd <= last && fd < 4096; ++fd) ::close(static_cast<int>(fd));
  };
  int keep[3] = {locks, new_journal, new_wake};
  std::sort(keep, keep + 3);
  unsigned from = 3;
  for (const int fd : keep) {
    if (static_cast<unsigned>(fd) > from) close_range(from, static_cast<unsigned>(fd) - 1);
    from = static_cast<unsigned>(fd) + 1;
  }
  close_range(from, ~0U);
  journal = new_journal;
  wake = new_wake;
}

/// The loop of the job and the interruption command beside it.
class Shim {
 public:
  Shim(const ShimTask& task, int wake)
      : task_(task),
        output_(task.start.attempt, {task.start.output_head_max, task.start.output_tail_max},
                wake) {
    end_.attempt = task.start.attempt;
    end_.end.started.us = task.started_us;
    end_.end.limits_enforced = task.has_limits;
  }

  void run(int journal) {
    if (auto started = start_job(); !started) {
      end_.end.reason = failure_;
      // All other errors are of the host.
      if (started.error().code != Errc::kInvalidArgument) end_.end.exit_code = kNeverStarted;
      end_.end.text = started.error().message.substr(0, kTextMax);
    } else {
      watch();
      finish();
    }
    // The clock of the host may have been set meanwhile.
    end_.end.ended.us = end_.end.started.us + boottime_us() - task_.boottime_us;
    end_.spooled = output_.has_file();
    // Try again for minutes: the disk may be full for a while, and an attempt without an End counts
    // as lost.
    for (int i = 0; i < kEndTriesMax && !append_end(journal, end_); ++i) ::sleep(1);
  }

 private:
  /// Starts the first process. kInvalidArgument: the job is wrong, and no host can start it.
  Result<void> start_job();
  void watch();
  void do_due_work();
  void end_job(bool at_once);
  void reap();
  void on_notice();
  void start_beside(const ReadNotice& notice);
  void beside_ended(int status);
  void find_files();
  void finish();

  const ShimTask& task_;
  JobOutput output_;
  pid_t pid_ = -1;                  ///< The first process of the job.
  std::uint64_t memory_kills_ = 0;  ///< Of the job's cgroups, counted before the job started.
  bool main_ended_ = false;         ///< The first process has ended.
  bool timed_out_ = false;
  bool ending_ = false;  ///< The job has been sent TERM or KILL.
  std::int64_t limit_at_ = kNever;
  std::int64_t kill_at_ = kNever;
  model::EndReason failure_ = model::EndReason::kStartFailed;  ///< If start_job() fails.
  End end_;

  /// The interruption command.
  struct Beside {
    UniqueFd out, err;                    ///< The job's streams; only if it has a command.
    std::optional<std::uint64_t> notice;  ///< The last notice that it was run for.
    pid_t pid = 0;                        ///< 0: it does not run.
    std::int64_t ends_at = kNever;
  };
  Beside beside_;
};

Result<void> Shim::start_job() {
  HOSTLER_TRY(make_folder(task_));
  if (auto placed = place_inputs(task_.start.inputs, work_path(task_.slot), task_.uid); !placed) {
    failure_ = model::EndReason::kInputFailed;
    return placed;
  }
  Launch program = HOSTLER_TRY(launch_of(task_));
  const UniqueFd input = HOSTLER_TRY(standard_input(task_.start));
  UniqueFd out;
  UniqueFd err;
  HOSTLER_TRY(output_.open(out, err));
  program.stdin_fd = input.get();
  program.stdout_fd = out.get();
  program.stderr_fd = err.get();
  memory_kills_ = Cgroups::memory_kills(task_.cgroups);
  pid_ = HOSTLER_TRY(launch(program));
  if (!task_.start.interruption_command.empty()) {
    beside_.out = std::move(out);
    beside_.err = std::move(err);
  }
  if (task_.start.time_limit_us > 0)
    limit_at_ = boottime_us() + static_cast<std::int64_t>(task_.start.time_limit_us);
  return {};
}

/// Returns when the first process of the job has ended. finish() ends its descendants.
void Shim::watch() {
  sigset_t none;
  ::sigemptyset(&none);
  while (!main_ended_) {
    pollfd polls[2];
    output_.fill(polls);
    const std::int64_t due = std::min({limit_at_, kill_at_, beside_.ends_at, output_.show_at()});
    timespec wait{};
    if (due != kNever) {
      const std::int64_t us = std::max<std::int64_t>(0, due - boottime_us());
      wait = {us / 1'000'000, (us % 1'000'000) * 1000};
    }
    const int ready = ::ppoll(polls, 2, due == kNever ? nullptr : &wait, &none);
    if (ready > 0) output_.read(polls);
    if (std::exchange(g_child_ended, 0) != 0) reap();
    if (due != kNever || g_term_requested != 0 || g_kill_requested != 0 || g_notice_came != 0)
      do_due_work();
  }
}

/// Obeys the signals that have arrived and the deadlines that have passed.
void Shim::do_due_work() {
  const std::int64_t now = boottime_us();
  if (now >= output_.show_at()) output_.show();
  if (std::exchange(g_term_requested, 0) != 0 && !ending_) end_job(false);
  if (std::exchange(g_kill_requested, 0) != 0) end_job(true);
  if (now >= limit_at_) {
    limit_at_ = kNever;
    timed_out_ = true;
    if (!ending_) end_job(false);
  }
  if (now >= kill_at_) end_job(true);
  if (std::exchange(g_notice_came, 0) != 0) on_notice();
  if (now >= beside_.ends_at) {
    beside_.ends_at = kNever;
    if (beside_.pid > 0) ::kill(-beside_.pid, SIGKILL);
  }
}

void Shim::on_notice() {
  const auto notice = read_notice(task_.start.attempt);
  if (!notice || task_.start.interruption_command.empty()) return;
  if (beside_.notice == notice->notice) {
    if (beside_.pid > 0) beside_.ends_at = notice->ends_us;
  } else if (beside_.pid == 0 && notice->ends_us > boottime_us()) {
    beside_.notice = notice->notice;
    start_beside(*notice);
  }
}

void Shim::start_beside(const ReadNotice& notice) {
  const std::int64_t left = (notice.ends_us - boottime_us()) / 1'000'000;
  const bool is_known = notice.at_us != 0;
  Launch program = launch_beside(task_);
  program.command = {"/bin/sh", "-c", task_.start.interruption_command};
  program.env.emplace_back("HOSTLER_INTERRUPTION_ACTION", to_string(notice.action));
  program.env.emplace_back("HOSTLER_INTERRUPTION_TIME",
                           is_known ? std::to_string(notice.at_us / 1'000'000) : "");
  program.env.emplace_back("HOSTLER_INTERRUPTION_SECONDS_LEFT",
                           is_known ? std::to_string(left) : "");
  const UniqueFd input = open_null();
  program.stdin_fd = input.get();
  program.stdout_fd = beside_.out.get();
  program.stderr_fd = beside_.err.get();
  const auto started = launch(program);
  if (!started) {
    output_.note("hostler: the interruption command did not start: " + started.error().message +
                 "\n");
    return;
  }
  beside_.pid = *started;
  beside_.ends_at = notice.ends_us;
}

void Shim::beside_ended(int status) {
  beside_.pid = 0;
  beside_.ends_at = kNever;
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return;
  output_.note("hostler: the interruption command ended with " +
               (WIFSIGNALED(status) ? "signal " + std::to_string(WTERMSIG(status))
                                    : "exit status " + std::to_string(WEXITSTATUS(status))) +
               "\n");
}

void Shim::end_job(bool at_once) {
  ending_ = true;
  ::kill(-pid_, at_once ? SIGKILL : SIGTERM);
  // A stopped process receives TERM only after it continues.
  if (!at_once) ::kill(-pid_, SIGCONT);
  kill_at_ = at_once ? kNever : boottime_us() + static_cast<std::int64_t>(task_.start.grace_us);
}

/// Reaps ended children: the first process of the job, and orphans that this subreaper adopted.
void Shim::reap() {
  for (;;) {
    int status = 0;
    const pid_t pid = ::waitpid(-1, &status, WNOHANG);
    if (pid <= 0) return;
    if (pid == beside_.pid) beside_ended(status);
    if (pid != pid_) continue;
    main_ended_ = true;
    model::AttemptEnd& end = end_.end;
    end.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
    end.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    end.reason = timed_out_            ? model::EndReason::kTimeLimit
                 : WIFSIGNALED(status) ? model::EndReason::kSignal
                                       : model::EndReason::kExit;
    return;
  }
}

void Shim::find_files() {
  const Start& start = task_.start;
  if (start.outputs.empty()) return;
  const auto files =
      find_outputs(work_path(task_.slot), start.outputs, task_.uid, start.files_bytes_max);
  end_.end.has_output_files = !files.empty();
  if (const auto written = write_files(start.attempt, files); !written)
    end_.end.text = "output files: " + written.error().message;
}

void Shim::finish() {
  model::AttemptEnd& end = end_.end;
  const bool all_killed = kill_descendants(pid_, task_.uid, task_.cgroups);
  beside_.out.reset();
  beside_.err.reset();
  output_.read_rest();
  output_.finish(end);
  find_files();
  if (task_.has_limits && Cgroups::memory_kills(task_.cgroups) > memory_kills_)
    end.text = "a process of the job was killed because the job reached its memory limit of " +
               std::to_string(task_.start.ram_max) + " bytes";
  if (!all_killed) end.text = "some processes of the job could not be killed";
  rusage usage{};
  if (::getrusage(RUSAGE_CHILDREN, &usage) == 0) {
    const auto us = [](const timeval& t) { return std::int64_t{t.tv_sec} * 1'000'000 + t.tv_usec; };
    end.cpu_us = us(usage.ru_utime) + us(usage.ru_stime);
    end.ram_peak = std::max(std::int64_t{usage.ru_maxrss} * 1024, Cgroups::ram_peak(task_.cgroups));
  }
}

}  // namespace

void run_shim(const ShimTask& task) {
  install_signal_handlers();
  ::setsid();
  (void)::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
  (void)::prctl(PR_SET_NAME, "hostler-shim", 0, 0, 0);
  int journal = task.journal;
  int wake = task.wake;
  int locks = task.locks;
  if (!hold_shim_lock(locks, task.start.sequence)) ::_exit(1);
  close_others(journal, wake, locks);
  Shim(task, wake).run(journal);
  ::_exit(0);
}

}  // namespace hostler::agent
