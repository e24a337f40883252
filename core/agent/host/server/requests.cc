#include <signal.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "core/agent/host/attempt/outputs.h"
#include "core/agent/host/server/server.h"
#include "core/agent/host/server/socket.h"

/// What the daemon asks and is told: its connection and its messages.
namespace hostler::agent {
namespace {

constexpr std::size_t kUnreadMax = std::size_t{64} << 20;
constexpr std::uint64_t kKeptMax = std::uint64_t{1} << 40;

}  // namespace

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
  blobs_.drop_coming();
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
  poller_.change(connection_->out(), want ? std::uint32_t{EPOLLOUT} : 0U);
}

void Server::announce() {
  while (!unannounced_.empty() && connection_->has_room()) {
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

// ---- its messages ------------------------------------------------------------------------------

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

void Server::on(const Kill& kill) {
  const Attempt* attempt = attempts_.find(kill.attempt);
  if (attempt == nullptr || attempt->shim == 0) return;
  signal_shim(*attempt, kill.at_once ? SIGUSR1 : SIGTERM);
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

}  // namespace hostler::agent
