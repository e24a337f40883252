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

#include "core/agent/host/attempt/inputs.h"
#include "core/agent/host/attempt/outputs.h"
#include "core/agent/host/attempt/preparation.h"
#include "core/agent/host/attempt/shim_lock.h"
#include "core/agent/host/attempt/slots.h"
#include "core/agent/host/attempt/spool.h"
#include "core/agent/host/journal/journal.h"
#include "core/agent/host/system/cgroups.h"
#include "core/agent/host/system/launch.h"
#include "core/agent/host/system/sweep.h"

namespace hostler::agent {
namespace {

constexpr int kEndTriesMax = 300;
constexpr std::int64_t kNever = INT64_MAX;
constexpr std::int64_t kSpillAfterUs = 100'000;  ///< What lies in memory is shown after this.
constexpr std::int64_t kWakeEveryUs = 20'000;
constexpr std::size_t kReadMax = std::size_t{64} << 10;

volatile sig_atomic_t g_child_ended = 0;
volatile sig_atomic_t g_end_asked = 0;
volatile sig_atomic_t g_kill_asked = 0;

void on_signal(int number) {
  if (number == SIGCHLD) g_child_ended = 1;
  if (number == SIGTERM) g_end_asked = 1;
  if (number == SIGUSR1) g_kill_asked = 1;
}

void take_signals() {
  sigset_t all;
  ::sigfillset(&all);
  ::sigprocmask(SIG_SETMASK, &all, nullptr);
  struct sigaction action {};
  action.sa_handler = on_signal;
  for (const int number : {SIGCHLD, SIGTERM, SIGUSR1}) ::sigaction(number, &action, nullptr);
}

/// Everything but stdin, stdout, stderr and the three that a shim needs; two of them move.
void close_all(int& journal, int& wake, int& locks) {
  // Locks first and never moved: closing any descriptor of that file would drop the lock.
  const int high = 64;
  const int new_journal = ::fcntl(journal, F_DUPFD_CLOEXEC, high);
  const int new_wake = ::fcntl(wake, F_DUPFD_CLOEXEC, high);
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

class Shim {
 public:
  explicit Shim(const ShimTask& task)
      : task_(task),
        shape_{task.start.output_head_max, task.start.output_tail_max},
        out_{Spool(spool_path(task.start.attempt, kStdout), shape_),
             Spool(spool_path(task.start.attempt, kStderr), shape_)} {
    end_.attempt = task.start.attempt;
    end_.end.started.us = task.started_us;
    end_.end.limits_enforced = !task.cgroups.empty();
  }

  void run(int journal, int wake) {
    wake_ = wake;
    if (auto begun = begin(); !begun) {
      end_.end.reason = failure_;
      end_.end.text = begun.error().message.substr(0, kTextMax);
    } else {
      watch();
      finish();
    }
    end_.end.ended.us = wall_us();
    end_.spooled = out_[0].has_file() || out_[1].has_file();
    // A full disk may find room again; without its end the attempt would count as lost.
    for (int i = 0; i < kEndTriesMax && !append_end(journal, end_); ++i) ::sleep(1);
  }

 private:
  Result<void> begin();
  void watch();
  void act_on_requests();
  void end_job(bool at_once);
  void reap();
  bool drain(int index, std::size_t rounds);
  void show_output();
  void find_files();
  void finish();

  const ShimTask& task_;
  const SpoolShape shape_;
  Spool out_[2];
  UniqueFd pipe_[2];
  int wake_ = -1;
  pid_t pid_ = -1;
  std::uint64_t memory_kills_ = 0;  ///< In its cgroups before it began.
  bool main_ended_ = false;
  bool timed_out_ = false;
  bool asked_ = false;
  std::int64_t limit_at_ = kNever;
  std::int64_t kill_at_ = kNever;
  std::int64_t spill_at_ = kNever;
  std::int64_t next_wake_ = 0;
  model::EndReason failure_ = model::EndReason::kStartFailed;
  End end_;
};

Result<void> Shim::begin() {
  HOSTLER_TRY(make_folder(task_));
  if (auto placed = place_inputs(task_.start.inputs, work_path(task_.slot), task_.uid); !placed) {
    failure_ = model::EndReason::kInputFailed;
    return placed;
  }
  Launch what = HOSTLER_TRY(launch_of(task_));
  const UniqueFd input = HOSTLER_TRY(standard_input(task_.start));
  UniqueFd ends[2];
  for (int i = 0; i < 2; ++i) {
    int fds[2];
    if (::pipe2(fds, O_CLOEXEC) != 0) return tl::unexpected(os_error("pipe"));
    pipe_[i].reset(fds[0]);
    ends[i].reset(fds[1]);
    (void)::fcntl(fds[0], F_SETFL, O_NONBLOCK);
  }
  what.stdin_fd = input.get();
  what.stdout_fd = ends[0].get();
  what.stderr_fd = ends[1].get();
  memory_kills_ = Cgroups::memory_kills(task_.cgroups);
  pid_ = HOSTLER_TRY(launch(what));
  if (task_.start.time_limit_us > 0)
    limit_at_ = boottime_us() + static_cast<std::int64_t>(task_.start.time_limit_us);
  return {};
}

/// Until the command's first process has ended. Its descendants are finish()'s.
void Shim::watch() {
  sigset_t none;
  ::sigemptyset(&none);
  while (!main_ended_) {
    pollfd polls[2] = {{pipe_[0].get(), POLLIN, 0}, {pipe_[1].get(), POLLIN, 0}};
    const std::int64_t due = std::min({limit_at_, kill_at_, spill_at_});
    timespec wait{};
    if (due != kNever) {
      const std::int64_t us = std::max<std::int64_t>(0, due - boottime_us());
      wait = {us / 1'000'000, (us % 1'000'000) * 1000};
    }
    const int ready = ::ppoll(polls, 2, due == kNever ? nullptr : &wait, &none);
    if (ready > 0)
      for (int i = 0; i < 2; ++i)
        if (polls[i].revents != 0 && !drain(i, 16)) pipe_[i].reset();
    if (std::exchange(g_child_ended, 0) != 0) reap();
    if (due != kNever || g_end_asked != 0 || g_kill_asked != 0) act_on_requests();
  }
}

void Shim::act_on_requests() {
  const std::int64_t now = boottime_us();
  if (now >= spill_at_) show_output();
  if (std::exchange(g_end_asked, 0) != 0 && !asked_) end_job(false);
  if (std::exchange(g_kill_asked, 0) != 0) end_job(true);
  if (now >= limit_at_) {
    limit_at_ = kNever;
    timed_out_ = true;
    if (!asked_) end_job(false);
  }
  if (now >= kill_at_) end_job(true);
}

void Shim::end_job(bool at_once) {
  asked_ = true;
  ::kill(-pid_, at_once ? SIGKILL : SIGTERM);
  // A stopped job would sleep through its TERM.
  if (!at_once) ::kill(-pid_, SIGCONT);
  kill_at_ = at_once ? kNever : boottime_us() + static_cast<std::int64_t>(task_.start.grace_us);
}

/// Collects ended processes: the command's own status, and orphans that fell to this subreaper.
void Shim::reap() {
  for (;;) {
    int status = 0;
    const pid_t pid = ::waitpid(-1, &status, WNOHANG);
    if (pid <= 0) return;
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

/// False at the end of the stream.
bool Shim::drain(int index, std::size_t rounds) {
  static char buffer[kReadMax];
  for (std::size_t i = 0; i < rounds; ++i) {
    const ssize_t n = ::read(pipe_[index].get(), buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno == EAGAIN;
    if (n == 0) return false;
    out_[index].append({buffer, static_cast<std::size_t>(n)});
    if (spill_at_ == kNever) {
      // The head alone is sent while the job runs; what comes after it wakes nobody.
      const bool shown = out_[index].total() <= shape_.head_max || next_wake_ == 0;
      const std::int64_t now = boottime_us();
      if (shown)
        spill_at_ = std::max(next_wake_, out_[index].is_spilled() ? now : now + kSpillAfterUs);
    }
    if (static_cast<std::size_t>(n) < sizeof buffer) return true;
  }
  return true;
}

/// Makes what was printed so far readable for the server, and wakes it.
void Shim::show_output() {
  for (Spool& spool : out_) spool.spill();
  const WakeNote note{task_.start.attempt.work.value, task_.start.attempt.number, 0};
  (void)!::write(wake_, &note, sizeof note);
  next_wake_ = boottime_us() + kWakeEveryUs;
  spill_at_ = kNever;
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
  const bool clean = kill_descendants(pid_, task_.uid, task_.cgroups);
  // All writers are dead; a descriptor that was passed to a stranger shall not hold us up.
  for (int i = 0; i < 2; ++i)
    if (pipe_[i]) drain(i, 1024);
  end.stdout_bytes = out_[0].total();
  end.stderr_bytes = out_[1].total();
  end.output_is_inline = end.stdout_bytes + end.stderr_bytes <= kInlineMax;
  if (end.output_is_inline) {
    end.stdout_inline = out_[0].whole();
    end.stderr_inline = out_[1].whole();
  } else {
    for (Spool& spool : out_) spool.spill();
  }
  find_files();
  if (Cgroups::memory_kills(task_.cgroups) > memory_kills_)
    end.text = "something of the job was killed for memory: its limit is " +
               std::to_string(task_.start.ram_max) + " bytes";
  if (!clean) end.text = "some processes of the job could not be killed";
  rusage usage{};
  if (::getrusage(RUSAGE_CHILDREN, &usage) == 0) {
    const auto us = [](const timeval& t) { return std::int64_t{t.tv_sec} * 1'000'000 + t.tv_usec; };
    end.cpu_us = us(usage.ru_utime) + us(usage.ru_stime);
    end.ram_peak = std::max(std::int64_t{usage.ru_maxrss} * 1024, Cgroups::ram_peak(task_.cgroups));
  }
}

}  // namespace

void run_shim(const ShimTask& task) {
  take_signals();
  ::setsid();
  (void)::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
  (void)::prctl(PR_SET_NAME, "hostler-shim", 0, 0, 0);
  int journal = task.journal;
  int wake = task.wake;
  int locks = task.locks;
  if (!hold_shim_lock(locks, task.start.sequence)) ::_exit(1);
  close_all(journal, wake, locks);
  Shim(task).run(journal, wake);
  ::_exit(0);
}

}  // namespace hostler::agent
