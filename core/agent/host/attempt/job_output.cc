#include "core/agent/host/attempt/job_output.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "core/agent/host/attempt/shim.h"

namespace hostler::agent {
namespace {

constexpr std::int64_t kShowAfterUs = 100'000;
constexpr std::int64_t kWakeEveryUs = 20'000;
constexpr std::size_t kReadMax = std::size_t{64} << 10;
constexpr std::size_t kRounds = 16;
constexpr std::size_t kRestRounds = 1024;

}  // namespace

JobOutput::JobOutput(model::AttemptId attempt, SpoolShape shape, int wake)
    : attempt_(attempt),
      shape_(shape),
      wake_(wake),
      spools_{Spool(spool_path(attempt, kStdout), shape),
              Spool(spool_path(attempt, kStderr), shape)} {}

Result<void> JobOutput::open(UniqueFd& out, UniqueFd& err) {
  UniqueFd* const ends[2] = {&out, &err};
  for (std::size_t i = 0; i < 2; ++i) {
    int fds[2];
    if (::pipe2(fds, O_CLOEXEC) != 0) return tl::unexpected(os_error("pipe"));
    pipes_[i].reset(fds[0]);
    ends[i]->reset(fds[1]);
    (void)::fcntl(fds[0], F_SETFL, O_NONBLOCK);
  }
  return {};
}

void JobOutput::fill(pollfd (&polls)[2]) const {
  for (std::size_t i = 0; i < 2; ++i) polls[i] = {pipes_[i].get(), POLLIN, 0};
}

void JobOutput::read(const pollfd (&polls)[2]) {
  for (std::size_t i = 0; i < 2; ++i)
    if (polls[i].revents != 0 && !read_pipe(i, kRounds)) pipes_[i].reset();
}

void JobOutput::read_rest() {
  // Bounded: a process outside the job may have been given the descriptor and still write to it.
  for (std::size_t i = 0; i < 2; ++i)
    if (pipes_[i]) read_pipe(i, kRestRounds);
}

/// False at the end of the stream.
bool JobOutput::read_pipe(std::size_t index, std::size_t rounds) {
  static char buffer[kReadMax];
  Spool& spool = spools_[index];
  for (std::size_t i = 0; i < rounds; ++i) {
    const ssize_t n = ::read(pipes_[index].get(), buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno == EAGAIN;
    if (n == 0) return false;
    spool.append({buffer, static_cast<std::size_t>(n)});
    // Only the head is sent while the job runs: later output needs no wake.
    if (show_at_ == INT64_MAX && (spool.total() <= shape_.head_max || next_wake_ == 0)) {
      const std::int64_t now = boottime_us();
      show_at_ = std::max(next_wake_, spool.is_spilled() ? now : now + kShowAfterUs);
    }
    if (static_cast<std::size_t>(n) < sizeof buffer) return true;
  }
  return true;
}

void JobOutput::note(const std::string& line) {
  spools_[1].append(line);
  if (show_at_ == INT64_MAX) show_at_ = std::max(next_wake_, boottime_us());
}

void JobOutput::show() {
  for (Spool& spool : spools_) spool.spill();
  const WakeNote note{attempt_.work.value, attempt_.number, 0};
  (void)!::write(wake_, &note, sizeof note);
  next_wake_ = boottime_us() + kWakeEveryUs;
  show_at_ = INT64_MAX;
}

void JobOutput::finish(model::AttemptEnd& end) {
  end.stdout_bytes = spools_[0].total();
  end.stderr_bytes = spools_[1].total();
  end.output_is_inline = end.stdout_bytes + end.stderr_bytes <= kInlineMax;
  if (end.output_is_inline) {
    end.stdout_inline = spools_[0].whole();
    end.stderr_inline = spools_[1].whole();
  } else {
    for (Spool& spool : spools_) spool.spill();
  }
}

}  // namespace hostler::agent
