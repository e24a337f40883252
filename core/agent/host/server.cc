#include "core/agent/host/server.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>

#include "core/agent/host/boot.h"
#include "core/agent/host/outputs.h"
#include "core/agent/host/sha256.h"
#include "core/agent/host/shim.h"
#include "core/agent/host/socket.h"
#include "core/agent/host/spool.h"
#include "core/agent/host/sweep.h"

namespace hostler::agent {
namespace {

constexpr std::size_t kAttemptsMax = 4096;
constexpr std::uint64_t kRotateAt = std::uint64_t{4} << 20;
constexpr std::int64_t kSyncAfterUs = 100'000;
constexpr std::int64_t kIdleUs = 1'000'000;
constexpr std::size_t kUnreadMax = std::size_t{64} << 20;
constexpr std::size_t kQueuedMax = std::size_t{256} << 10;
constexpr std::uint64_t kKeptMax = std::uint64_t{1} << 40;

}  // namespace

// ---- start -------------------------------------------------------------------------------------

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
  epoll_.reset(::epoll_create1(EPOLL_CLOEXEC));
  sigset_t mask;
  ::sigemptyset(&mask);
  for (const int number : {SIGCHLD, SIGTERM, SIGINT}) ::sigaddset(&mask, number);
  ::sigprocmask(SIG_SETMASK, &mask, nullptr);
  ::signal(SIGPIPE, SIG_IGN);
  ::signal(SIGHUP, SIG_IGN);
  signals_.reset(::signalfd(-1, &mask, SFD_NONBLOCK | SFD_CLOEXEC));
  if (!epoll_ || !signals_) return tl::unexpected(os_error("make the loop"));
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

/// An attempt without an end: its shim lives, or it was lost in this boot or with another.
void Server::adopt(Attempt& attempt) {
  const pid_t pid = shim_pid(locks_.get(), attempt.begin.sequence);
  if (pid > 0) {
    attempt.pidfd.reset(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0U)));
    if (attempt.pidfd) (void)::fcntl(attempt.pidfd.get(), F_SETFD, FD_CLOEXEC);
    if (attempt.pidfd && shim_pid(locks_.get(), attempt.begin.sequence) == pid) {
      attempt.shim = pid;
      found_shims_[attempt.pidfd.get()] = attempt.begin.attempt;
      watch(attempt.pidfd.get(), Source::kShim, EPOLLIN);
      return;
    }
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

void Server::watch(int fd, Source source, std::uint32_t events) {
  watched_[fd] = {source, ++last_watch_};
  epoll_event event = interest(fd, events);
  (void)::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event);
}

epoll_event Server::interest(int fd, std::uint32_t events) const {
  epoll_event out{};
  out.events = events;
  out.data.u64 = (std::uint64_t{watched_.at(fd).number} << 32U) | static_cast<std::uint32_t>(fd);
  return out;
}

// ---- the loop ----------------------------------------------------------------------------------

void Server::run() {
  epoll_event events[64];
  while (!quitting_) {
    const int count = ::epoll_wait(epoll_.get(), events, 64, wait_ms());
    for (int i = 0; i < count; ++i) {
      const int fd = static_cast<int>(events[i].data.u64 & 0xffffffffU);
      const Watch& watch = watched_.at(fd);
      // An event before this one may have closed the descriptor and given its number away.
      if (watch.number == events[i].data.u64 >> 32U) handle(watch.source, fd, events[i].events);
    }
    if (connection_) flush();
    do_timed_work();
  }
  (void)::unlink(kSocketName);
  cgroups_.remove_idle(slots_.used());
  journal_.sync();
}

int Server::wait_ms() const {
  const std::int64_t due = std::min(
      {checks_.due(), sync_at_ != 0 ? sync_at_ : INT64_MAX, idle_at_ != 0 ? idle_at_ : INT64_MAX});
  if (due == INT64_MAX) return -1;
  const std::int64_t ms = std::max<std::int64_t>(0, due - boottime_us()) / 1000 + 1;
  return static_cast<int>(std::min<std::int64_t>(ms, 3'600'000));
}

void Server::do_timed_work() {
  checks_.tick();
  cleaner_.tick();
  if (idle_at_ != 0 && boottime_us() >= idle_at_) {
    cgroups_.remove_idle(slots_.used());
    idle_at_ = 0;
  }
  if (journal_.dirty() && sync_at_ == 0) sync_at_ = boottime_us() + kSyncAfterUs;
  if (sync_at_ == 0 || boottime_us() < sync_at_) return;
  journal_.sync();
  sync_at_ = 0;
  if (journal_.size() > kRotateAt) rotate_journal();
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
      if (found != found_shims_.end()) on_shim_gone(found->second);
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

void Server::accept_connection() {
  auto connection = accept_handover(listener_.get());
  if (!connection) return;
  drop_connection();
  connection_ = std::move(connection);
  outflow_ = Outflow();
  unannounced_.clear();
  on(Configure());
  watch(connection_->control(), Source::kControl, EPOLLIN | EPOLLRDHUP);
  watch(connection_->in(), Source::kIn, EPOLLIN);
  watch(connection_->out(), Source::kOut, 0);
  connection_->greet();
  Hello hello;
  hello.boot_id = boot_id_;
  hello.state_id = attempts_.state_id;
  hello.agent_sha = sha256_;
  hello.uid = ::geteuid();
  hello.limits = cgroups_.kind();
  hello.last_sequence = attempts_.last_sequence;
  connection_->send(hello);
  send_listing();
}

void Server::drop_connection() {
  connection_.reset();  // closing takes its descriptors out of the epoll
  want_out_ = false;
}

void Server::read_connection() {
  if (!connection_->read_some()) return drop_connection();
  while (connection_ && !quitting_) {
    auto message = connection_->next();
    if (!message) {
      connection_->send(Problem{message.error().message.substr(0, kTextMax)});
      (void)connection_->write_some();
      return drop_connection();
    }
    if (!*message) return;
    std::visit([this](const auto& m) { on(m); }, **message);
    if (connection_->queued() > kUnreadMax) return drop_connection();  // it asks and never reads
  }
}

/// Writes what is queued; exits first, then pieces of output as there is room.
void Server::flush() {
  announce();
  outflow_.pump(attempts_, *connection_);
  if (!connection_->write_some()) return drop_connection();
  const bool want = connection_->queued() > 0;
  if (want == want_out_) return;
  want_out_ = want;
  epoll_event event =
      interest(connection_->out(), want ? static_cast<std::uint32_t>(EPOLLOUT) : 0U);
  (void)::epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, connection_->out(), &event);
}

void Server::announce() {
  while (!unannounced_.empty() && connection_->queued() < kQueuedMax) {
    const model::AttemptId id = unannounced_.front();
    unannounced_.pop_front();
    const Attempt* attempt = attempts_.find(id);
    if (attempt == nullptr || !attempt->end) continue;
    connection_->send(Exit{id, *attempt->end});
    if (attempt->end->output_is_inline)
      outflow_.forget(id);
    else
      outflow_.touch(id);
  }
}

void Server::send_listing() {
  Listing listing;
  listing.last = false;
  for (const auto& [id, attempt] : attempts_.all()) {
    listing.known.push_back({id, attempt.phase()});
    if (attempt.end) unannounced_.push_back(id);
    if (listing.known.size() < kListingMax) continue;
    connection_->send(listing);
    listing.known.clear();
  }
  listing.last = true;
  connection_->send(listing);
}

// ---- what the daemon asks ----------------------------------------------------------------------

std::optional<Refused> Server::refusal(const Start& start) {
  using Why = Refused::Why;
  const auto refuse = [&](Why why, std::string text) {
    return Refused{start.attempt, why, std::move(text)};
  };
  if (start.boot_id != boot_id_)
    return refuse(Why::kOtherBoot, "this host's boot is " + boot_id_ + " by now");
  if (start.sequence <= attempts_.last_sequence || start.sequence > INT64_MAX)
    return refuse(Why::kUsedSequence, "sequence number " + std::to_string(start.sequence) +
                                          " is not above " +
                                          std::to_string(attempts_.last_sequence));
  if (attempts_.find(start.attempt) != nullptr)
    return refuse(Why::kBadRequest, "this attempt is known already");
  if (start.command.empty() == start.script.empty())
    return refuse(Why::kBadRequest, "exactly one of command and script is needed");
  if (!start.command.empty() && start.command[0].empty())
    return refuse(Why::kBadRequest, "the command's first word is empty");
  for (const auto& [name, value] : start.env)
    if (name.empty() || name.find('=') != std::string::npos)
      return refuse(Why::kBadRequest, "an environment name is empty or has '='");
  if (start.output_head_max > kKeptMax || start.output_tail_max > kKeptMax ||
      start.time_limit_us > INT64_MAX / 4 || start.grace_us > INT64_MAX / 4)
    return refuse(Why::kBadRequest, "a limit is out of range");
  if (attempts_.all().size() >= kAttemptsMax)
    return refuse(Why::kBusy, std::to_string(kAttemptsMax) + " attempts are not acknowledged yet");
  return std::nullopt;
}

void Server::on(const Start& start) {
  if (const auto refused = refusal(start)) return connection_->send(*refused);
  const auto slot = slots_.take(::geteuid() == 0 ? config_.uid_count : 0);
  if (!slot)
    return connection_->send(
        Refused{start.attempt, Refused::Why::kBusy,
                "all " + std::to_string(config_.uid_count) + " uids for jobs are in use"});
  const Begin begin{start.attempt,
                    start.sequence,
                    boot_id_,
                    *slot,
                    uid_of(*slot),
                    !start.script.empty(),
                    start.output_head_max,
                    start.output_tail_max};
  if (const auto logged = journal_.append(to_record(begin)); !logged) {
    slots_.give_back(begin.slot, begin.uid, cleaner_);
    return connection_->send(
        Refused{start.attempt, Refused::Why::kInternal, logged.error().message});
  }
  attempts_.apply(begin);
  Attempt& attempt = *attempts_.find(start.attempt);
  attempt.journal_number = journal_.number();
  const std::int64_t now = wall_us();
  if (!fork_shim(start, attempt)) {
    connection_->send(Refused{start.attempt, Refused::Why::kBusy, os_error("fork").message});
    return forget(start.attempt);
  }
  connection_->send(Started{start.attempt, now});
  if (start.credit > 0)
    for (const std::uint32_t stream : {kStdout, kStderr})
      outflow_.credit(Credit{start.attempt, stream, 0, start.credit}, false);
}

bool Server::fork_shim(const Start& start, Attempt& attempt) {
  const bool ready = slots_.is_ready(attempt.begin.slot, attempt.begin.uid, cleaner_);
  const auto groups = cgroups_.prepare(attempt.begin.slot, start.ram_max, start.processes_max);
  const pid_t pid = ::fork();
  if (pid == 0) {
    ShimTask task;
    task.start = start;
    task.slot = attempt.begin.slot;
    task.uid = attempt.begin.uid;
    task.folder_is_ready = ready;
    task.cgroups = groups;
    task.state_folder = folder_;
    task.marker = marker(attempt);
    task.started_us = wall_us();
    task.journal = journal_.fd();
    task.wake = wake_.get();
    task.locks = locks_.get();
    run_shim(task);
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

void Server::on(const Kill& kill) {
  Attempt* attempt = attempts_.find(kill.attempt);
  if (attempt == nullptr || attempt->shim == 0) return;
  const int number = kill.at_once ? SIGUSR1 : SIGTERM;
  if (attempt->is_child)
    ::kill(attempt->shim, number);
  else
    (void)::syscall(SYS_pidfd_send_signal, attempt->pidfd.get(), number, nullptr, 0U);
}

void Server::on(const List&) {
  unannounced_.clear();
  send_listing();
}

void Server::on(const Ack& ack) {
  for (const model::AttemptId id : ack.attempts) {
    const Attempt* attempt = attempts_.find(id);
    if (attempt == nullptr || attempt->phase() == Phase::kRunning) continue;
    forget(id);
  }
}

void Server::on(const Credit& credit) {
  if (attempts_.find(credit.attempt) != nullptr) outflow_.credit(credit);
}

void Server::on(const ListFiles& list) {
  const auto files = read_files(list.attempt);
  Files piece{list.attempt, {}, false};
  for (const OutputFile& file : files) {
    piece.files.push_back(file);
    if (piece.files.size() < kListingMax / 4) continue;
    connection_->send(piece);
    piece.files.clear();
  }
  piece.last = true;
  connection_->send(piece);
}

void Server::on(const BlobQuery& query) {
  connection_->send(BlobState{query.sha256, blobs_.has(query.sha256), ""});
}

void Server::on(const BlobPut& put) {
  if (const auto answer = blobs_.put(put)) connection_->send(*answer);
}

void Server::on(const Configure& configure) {
  config_ = configure;
  if (config_.uid_first == 0) config_.uid_count = 0;  // root is nobody's own
  blobs_.set_max(configure.blobs_max);
  checks_.configure(configure.checks);
}

void Server::on(const Ping& ping) { connection_->send(Pong{ping.token}); }

// ---- what shims do -----------------------------------------------------------------------------

void Server::on_signals() {
  signalfd_siginfo info{};
  while (::read(signals_.get(), &info, sizeof info) == sizeof info)
    if (info.ssi_signo != SIGCHLD) quitting_ = true;
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
    const model::AttemptId id = found->second;
    children_.erase(found);
    on_shim_gone(id);
  }
}

void Server::report(Checks::Finding&& finding) {
  if (!connection_) return;
  if (finding.kind == Check::Kind::kHealthy)
    connection_->send(HostBroken{finding.check, finding.text});
  else
    connection_->send(SpotNotice{finding.text});
}

void Server::on_shim_gone(model::AttemptId id) {
  read_journal();
  Attempt* attempt = attempts_.find(id);
  if (attempt == nullptr) return;
  if (attempt->pidfd) found_shims_.erase(attempt->pidfd.get());
  attempt->pidfd.reset();
  attempt->shim = 0;
  if (attempt->end) return;
  lost_supervision(*attempt);
  read_journal();
}

void Server::read_journal() {
  journal_.read_new([this](Record&& record) { attempts_.apply(std::move(record)); });
  for (const model::AttemptId id : attempts_.take_ended()) {
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
  end.end.reason = model::JobReason::kSupervisionLost;
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
      outflow_.touch({model::JobId{notes[i].job}, notes[i].number});
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

void Server::rotate_journal() {
  if (!journal_.rotate(attempts_.snapshot())) return;
  std::uint64_t oldest = journal_.number();
  for (const auto& [id, attempt] : attempts_.all())
    if (attempt.shim != 0) oldest = std::min(oldest, attempt.journal_number);
  journal_.drop_before(oldest);
}

std::string Server::marker(const Attempt& attempt) const {
  return "HOSTLER_ATTEMPT_KEY=" + attempts_.state_id + "." + std::to_string(attempt.begin.sequence);
}

}  // namespace hostler::agent
