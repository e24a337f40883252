#include "core/agent/host/server/server.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>

#include "core/agent/host/server/socket.h"
#include "core/agent/host/system/boot.h"
#include "core/agent/host/system/sha256.h"

namespace hostler::agent {
namespace {

constexpr std::uint64_t kRotateAt = std::uint64_t{4} << 20;

}  // namespace

Result<std::unique_ptr<Server>> Server::create() {
  auto server = std::unique_ptr<Server>(new Server());
  HOSTLER_TRY(server->take_lock());
  HOSTLER_TRY(server->open_state());
  HOSTLER_TRY(server->open_loop());
  return server;
}

Result<void> Server::take_lock() {
  lock_.reset(::open("server.lock", O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!lock_) return tl::unexpected(os_error("open server.lock"));
  // A shim that was just forked holds it for the moment that it needs to be found.
  for (int i = 0; i < 400; ++i) {
    if (::flock(lock_.get(), LOCK_EX | LOCK_NB) == 0) return {};
    if (errno != EWOULDBLOCK && errno != EINTR) return tl::unexpected(os_error("lock server.lock"));
    const timespec pause{0, 5'000'000};
    ::nanosleep(&pause, nullptr);
  }
  return fail(Errc::kConflict, "another server holds server.lock");
}

Result<void> Server::open_state() {
  char path[4096];
  if (::getcwd(path, sizeof path) == nullptr) return tl::unexpected(os_error("getcwd"));
  folder_ = path;
  boot_id_ = boot_id();
  const std::string program = read_small("/proc/self/exe", std::size_t{16} << 20);
  if (!program.empty()) sha256_ = Sha256().update(program).finish_hex();
  (void)::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
  (void)::prctl(PR_SET_NAME, "hostler-agent", 0, 0, 0);  // for ps
  HOSTLER_TRY(slots_.open());
  if (::mkdir("out", 0711) != 0 && errno != EEXIST) return tl::unexpected(os_error("create out"));
  locks_.reset(::open("shims.lock", O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!locks_) return tl::unexpected(os_error("open shims.lock"));
  if (::mkfifo("wake", 0600) != 0 && errno != EEXIST) return tl::unexpected(os_error("make wake"));
  wake_.reset(::open("wake", O_RDWR | O_NONBLOCK | O_CLOEXEC));
  if (!wake_) return tl::unexpected(os_error("open wake"));
  HOSTLER_TRY(blobs_.open());
  cleaner_.open();
  HOSTLER_TRY(journal_.open([this](Record&& record) { attempts_.apply(std::move(record)); }));
  if (attempts_.state_id.empty()) attempts_.state_id = random_hex(16);
  cgroups_.open("hostler-agent-" + attempts_.state_id);
  return {};
}

Result<void> Server::open_loop() {
  HOSTLER_TRY(poller_.open());
  sigset_t mask;
  ::sigemptyset(&mask);
  for (const int number : {SIGCHLD, SIGTERM, SIGINT}) ::sigaddset(&mask, number);
  ::sigprocmask(SIG_SETMASK, &mask, nullptr);
  ::signal(SIGPIPE, SIG_IGN);
  ::signal(SIGHUP, SIG_IGN);
  signals_.reset(::signalfd(-1, &mask, SFD_NONBLOCK | SFD_CLOEXEC));
  if (!signals_) return tl::unexpected(os_error("make the loop"));
  for (auto& [id, attempt] : attempts_.all()) {
    slots_.occupy(attempt.begin.slot);
    attempt.journal_number = journal_.oldest();  // any of the files may be its shim's
    if (!attempt.end) adopt(attempt);
  }
  (void)attempts_.take_ended();  // the listing says them
  slots_.discard_rest(cleaner_);
  rotate_journal();  // what was torn or long stays behind
  listener_ = HOSTLER_TRY(listen_here());
  watch(listener_.get(), Source::kListen, EPOLLIN);
  watch(signals_.get(), Source::kSignals, EPOLLIN);
  watch(wake_.get(), Source::kWake, EPOLLIN);
  return {};
}

void Server::watch(int fd, Source source, std::uint32_t events) {
  poller_.add(fd, static_cast<std::uint32_t>(source), events);
}

// ---- the loop ----------------------------------------------------------------------------------

void Server::run() {
  const Poller::Handle on_event = [this](std::uint32_t source, int fd, std::uint32_t events) {
    handle(Source{source}, fd, events);
  };
  while (!quitting_) {
    poller_.wait(wait_ms(), on_event);
    if (connection_) flush();
    do_timed_work();
  }
  (void)::unlink(kSocketName);
  cgroups_.remove_idle(slots_.used());
  journal_.sync();
}

int Server::wait_ms() {
  std::int64_t due = std::min(checks_.due(), sync_plan_.due(attempts_));
  for (const std::int64_t at : {poll_at_, idle_at_})
    if (at != 0) due = std::min(due, at);
  if (due == INT64_MAX) return -1;
  const std::int64_t ms = std::max<std::int64_t>(0, due - boottime_us()) / 1000 + 1;
  return static_cast<int>(std::min<std::int64_t>(ms, 3'600'000));
}

void Server::do_timed_work() {
  checks_.tick();
  cleaner_.tick();
  if (poll_at_ != 0 && boottime_us() >= poll_at_) poll_shims();
  if (idle_at_ != 0 && boottime_us() >= idle_at_) {
    cgroups_.remove_idle(slots_.used());
    idle_at_ = 0;
  }
  if (const std::int64_t due = sync_plan_.due(attempts_); due <= boottime_us()) {
    journal_.sync();
    sync_plan_.synced();
  }
  if (journal_.size() > rotate_above_) rotate_journal();
}

void Server::handle(Source source, int fd, std::uint32_t events) {
  switch (source) {
    case Source::kListen:
      return accept_connection();
    case Source::kSignals:
      return on_signals();
    case Source::kWake:
      return on_wake();
    case Source::kShim: {
      const auto found = found_shims_.find(fd);
      if (found != found_shims_.end()) on_shims_gone({found->second});
      return;
    }
    case Source::kControl:
      // `connect` says nothing; that it is readable means it has gone.
      if (connection_ && connection_->control() == fd) drop_connection();
      return;
    case Source::kIn:
      if (connection_ && connection_->in() == fd) read_connection();
      return;
    case Source::kOut:
      if (connection_ && connection_->out() == fd && (events & (EPOLLERR | EPOLLHUP)) != 0 &&
          (events & EPOLLOUT) == 0)
        drop_connection();
      return;  // flush() follows
  }
}

void Server::rotate_journal() {
  const auto rotated = journal_.rotate(attempts_.snapshot());
  // Above what the file begins with; and a full disk is not tried again at once.
  rotate_above_ = journal_.size() + kRotateAt;
  if (!rotated) return;
  std::uint64_t oldest = journal_.number();
  for (const auto& [id, attempt] : attempts_.all())
    if (attempt.shim != 0) oldest = std::min(oldest, attempt.journal_number);
  journal_.drop_before(oldest);
}

}  // namespace hostler::agent
