#include "core/agent/host/server/server.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <utility>

#include "core/agent/host/server/socket.h"
#include "core/agent/host/system/privacy.h"
#include "core/agent/host/system/sha256.h"

namespace hostler::agent {

Result<std::unique_ptr<Server>> Server::create() {
  auto server = std::unique_ptr<Server>(new Server());
  hide_processes();
  HOSTLER_TRY(server->take_lock());
  HOSTLER_TRY(server->open_signals());
  HOSTLER_TRY(server->open_state());
  HOSTLER_TRY(server->open_loop());
  return server;
}

Result<void> Server::take_lock() {
  lock_.reset(::open("server.lock", O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!lock_) return tl::unexpected(os_error("open server.lock"));
  // A shim that was just forked holds server.lock until it has a lock of its own: try again.
  for (int i = 0; i < 400; ++i) {
    if (::flock(lock_.get(), LOCK_EX | LOCK_NB) == 0) return {};
    if (errno != EWOULDBLOCK && errno != EINTR) return tl::unexpected(os_error("lock server.lock"));
    const timespec pause{0, 5'000'000};
    ::nanosleep(&pause, nullptr);
  }
  return fail(Errc::kConflict, "another server holds server.lock");
}

Result<void> Server::open_signals() {
  sigset_t mask;
  ::sigemptyset(&mask);
  for (const int number : {SIGCHLD, SIGTERM, SIGINT}) ::sigaddset(&mask, number);
  ::sigprocmask(SIG_SETMASK, &mask, nullptr);
  ::signal(SIGPIPE, SIG_IGN);
  ::signal(SIGHUP, SIG_IGN);
  signals_.reset(::signalfd(-1, &mask, SFD_NONBLOCK | SFD_CLOEXEC));
  if (!signals_) return tl::unexpected(os_error("create a signalfd"));
  return {};
}

Result<void> Server::open_state() {
  char path[4096];
  if (::getcwd(path, sizeof path) == nullptr) return tl::unexpected(os_error("getcwd"));
  const std::string program = read_small("/proc/self/exe", std::size_t{16} << 20);
  if (!program.empty()) sha256_ = Sha256().update(program).finish_hex();
  (void)::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
  (void)::prctl(PR_SET_NAME, "hostler-agent", 0, 0, 0);  // the name that ps shows
  HOSTLER_TRY(poller_.open());
  HOSTLER_TRY(blobs_.open());
  return supervisor_.open(path);
}

Result<void> Server::open_loop() {
  listener_ = HOSTLER_TRY(listen_here());
  watch(listener_.get(), EventSource::kListener, EPOLLIN);
  watch(signals_.get(), EventSource::kSignals, EPOLLIN);
  watch(supervisor_.shims().wake_fd(), EventSource::kWakePipe, EPOLLIN);
  return {};
}

void Server::watch(int fd, EventSource source, std::uint32_t events) {
  poller_.add(fd, static_cast<std::uint32_t>(source), events);
}

// ---- the loop ----------------------------------------------------------------------------------

void Server::run() {
  const Poller::Handle on_event = [this](std::uint32_t source, int fd, std::uint32_t events) {
    handle(EventSource{source}, fd, events);
  };
  while (!quitting_) {
    poller_.wait(wait_ms(), on_event);
    announce_ended();
    cards_.tick(boottime_us());
    announce_cards();
    flush_session();
    checks_.tick();
    supervisor_.tick();
  }
  (void)::unlink(kSocketName);
  supervisor_.close();
}

int Server::wait_ms() {
  const std::int64_t due = std::min({checks_.due(), cards_.due(), supervisor_.due()});
  if (due == INT64_MAX) return -1;
  const std::int64_t ms = std::max<std::int64_t>(0, due - boottime_us()) / 1000 + 1;
  return static_cast<int>(std::min<std::int64_t>(ms, 3'600'000));
}

void Server::handle(EventSource source, int fd, std::uint32_t events) {
  switch (source) {
    case EventSource::kListener:
      return accept_session();
    case EventSource::kSignals:
      return on_signals();
    case EventSource::kWakePipe:
      for (const model::AttemptId id : supervisor_.shims().read_wakes())
        if (session_) session_->on_new_output(id);
      return;
    case EventSource::kFoundShim:
      return supervisor_.on_pidfd(fd);
    case EventSource::kControl:
      // `connect` sends nothing more: a readable descriptor means that the process has ended.
      if (session_ && session_->connection().control() == fd) session_.reset();
      return;
    case EventSource::kChannelIn:
      if (session_ && session_->connection().in() == fd) read_session();
      return;
    case EventSource::kChannelOut:
      // Room to write is used by flush_session(), which follows. Here is only the hang-up.
      if (session_ && session_->connection().out() == fd && (events & (EPOLLERR | EPOLLHUP)) != 0 &&
          (events & EPOLLOUT) == 0)
        session_.reset();
      return;
  }
}

void Server::accept_session() {
  auto connection = accept_handover(listener_.get());
  if (!connection) return;
  session_.reset();  // its connection leaves the poller before the new one is added
  watch(connection->control(), EventSource::kControl, EPOLLIN | EPOLLRDHUP);
  watch(connection->in(), EventSource::kChannelIn, EPOLLIN);
  watch(connection->out(), EventSource::kChannelOut, 0);
  session_ = std::make_unique<Session>(
      std::move(connection), Session::Parts{poller_, supervisor_, blobs_, checks_, cards_},
      sha256_);
}

void Server::on_signals() {
  signalfd_siginfo infos[4];  // at least one for each signal of the mask
  const ssize_t n = ::read(signals_.get(), infos, sizeof infos);
  for (std::size_t i = 0; n > 0 && i < static_cast<std::size_t>(n) / sizeof infos[0]; ++i)
    if (infos[i].ssi_signo != SIGCHLD) quitting_ = true;
  for (;;) {
    int status = 0;
    const pid_t pid = ::waitpid(-1, &status, WNOHANG);
    if (pid <= 0) return;
    on_child_exit(pid, status);
  }
}

void Server::on_child_exit(pid_t pid, int status) {
  if (supervisor_.on_child_exit(pid) || cards_.on_exit(pid, status, boottime_us())) return;
  // None of them: an orphan, adopted from a shim that was killed.
  (void)checks_.on_exit(pid, status, [this](const Checks::Finding& finding) {
    if (session_) session_->on_finding(finding);
  });
}

void Server::read_session() {
  const bool goes_on = session_->on_readable();
  if (session_->quit_asked()) quitting_ = true;
  if (!goes_on) session_.reset();
}

void Server::announce_ended() {
  const auto ended = supervisor_.take_ended();
  if (session_) session_->on_ended(ended);
}

void Server::announce_cards() {
  if (!session_) return;
  if (const auto cards = cards_.take()) session_->on_cards(*cards);
}

void Server::flush_session() {
  if (session_ && !session_->flush()) session_.reset();
}

}  // namespace hostler::agent
