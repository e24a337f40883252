#include "core/agent/host/server/shim_table.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "core/agent/host/attempt/shim.h"
#include "core/agent/host/attempt/shim_lock.h"
#include "core/agent/host/server/event_source.h"

namespace hostler::agent {
namespace {

constexpr std::int64_t kPollUs = 1'000'000;

/// Removes `key` from `map` and returns its value.
template <class Map>
std::optional<model::AttemptId> extract(Map& map, int key) {
  const auto found = map.find(key);
  if (found == map.end()) return std::nullopt;
  const model::AttemptId id = found->second;
  map.erase(found);
  return id;
}

}  // namespace

Result<void> ShimTable::open() {
  locks_.reset(::open("shims.lock", O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!locks_) return tl::unexpected(os_error("open shims.lock"));
  if (::mkfifo("wake", 0600) != 0 && errno != EEXIST) return tl::unexpected(os_error("make wake"));
  wake_.reset(::open("wake", O_RDWR | O_NONBLOCK | O_CLOEXEC));
  if (!wake_) return tl::unexpected(os_error("open wake"));
  return {};
}

bool ShimTable::fork(ShimTask task) {
  task.wake = wake_.get();
  task.locks = locks_.get();
  const pid_t pid = ::fork();
  if (pid == 0) run_shim(task);
  if (pid < 0) return false;
  const model::AttemptId id = task.start.attempt;
  shims_[id] = {pid, task.start.sequence, true, {}};
  children_[pid] = id;
  return true;
}

bool ShimTable::find(model::AttemptId id, std::uint64_t sequence) {
  const pid_t pid = shim_pid(locks_.get(), sequence);
  if (pid <= 0) return false;
  UniqueFd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0U)));
  // Ask again: the shim may have ended, and its pid may belong to another process by now.
  if (shim_pid(locks_.get(), sequence) != pid) return false;
  if (pidfd) {
    (void)::fcntl(pidfd.get(), F_SETFD, FD_CLOEXEC);
    pidfds_[pidfd.get()] = id;
    poller_.add(pidfd.get(), static_cast<std::uint32_t>(EventSource::kFoundShim), EPOLLIN);
  } else {
    // The kernel is older than 5.3, or a security policy forbids pidfds.
    if (polled_.empty()) poll_at_ = boottime_us() + kPollUs;
    polled_.insert(id);
  }
  shims_[id] = {pid, sequence, false, std::move(pidfd)};
  return true;
}

void ShimTable::signal(model::AttemptId id, int number) const {
  const auto found = shims_.find(id);
  if (found == shims_.end()) return;
  const Shim& shim = found->second;
  if (shim.pidfd)
    (void)::syscall(SYS_pidfd_send_signal, shim.pidfd.get(), number, nullptr, 0U);
  else if (shim.is_child || shim_pid(locks_.get(), shim.sequence) == shim.pid)
    (void)::kill(shim.pid, number);
}

std::optional<model::AttemptId> ShimTable::take(std::optional<model::AttemptId> id) {
  if (id) shims_.erase(*id);
  return id;
}

std::optional<model::AttemptId> ShimTable::take_child(pid_t pid) {
  return take(extract(children_, pid));
}

std::optional<model::AttemptId> ShimTable::take_found(int pidfd) {
  return take(extract(pidfds_, pidfd));
}

std::vector<model::AttemptId> ShimTable::take_polled() {
  std::vector<model::AttemptId> gone;
  if (boottime_us() < due()) return gone;
  for (const model::AttemptId id : polled_)
    if (shim_pid(locks_.get(), shims_.at(id).sequence) == 0) gone.push_back(id);
  for (const model::AttemptId id : gone) {
    polled_.erase(id);
    shims_.erase(id);
  }
  poll_at_ = boottime_us() + kPollUs;
  return gone;
}

std::vector<model::AttemptId> ShimTable::read_wakes() {
  std::vector<model::AttemptId> out;
  WakeNote notes[256];
  for (;;) {
    const ssize_t n = ::read(wake_.get(), notes, sizeof notes);
    if (n <= 0) return out;
    for (std::size_t i = 0; i < static_cast<std::size_t>(n) / sizeof(WakeNote); ++i)
      out.push_back({model::WorkId{notes[i].job}, notes[i].number});
  }
}

void ShimTable::add_children(std::set<pid_t>& out) const {
  for (const auto& [pid, id] : children_) out.insert(pid);
}

}  // namespace hostler::agent
