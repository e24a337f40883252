#include "core/agent/host/server/session.h"

#include <sys/epoll.h>
#include <unistd.h>

#include <utility>

#include "core/agent/host/attempt/outputs.h"
#include "core/agent/host/system/own_folder.h"
#include "core/agent/host/system/ram.h"
#include "core/agent/host/system/scratch.h"
#include "core/model/host.h"

namespace hostler::agent {
namespace {

constexpr std::size_t kUnreadMax = std::size_t{64} << 20;
/// In one piece of a listing; one attempt may add model::kCardsMax. A frame takes all of them.
constexpr std::size_t kListedCardsMax = 4096;

}  // namespace

Session::Session(std::unique_ptr<Connection> connection, Parts parts, std::string agent_sha)
    : connection_(std::move(connection)), parts_(parts) {
  apply(Configure());
  parts_.cards.stop();
  connection_->send_greeting();
  send_hello(std::move(agent_sha));
  send_scratch();
  send_ram();
  send_listing();
}

Session::~Session() {
  parts_.blobs.drop_incomplete();
  parts_.cards.stop();
}

void Session::send_hello(std::string agent_sha) {
  AttemptLog& attempts = parts_.supervisor.attempts();
  Hello hello;
  hello.boot_id = parts_.supervisor.boot_id();
  hello.state_id = attempts.state_id();
  hello.agent_sha = std::move(agent_sha);
  hello.uid = ::geteuid();
  hello.limits = parts_.supervisor.limits();
  hello.last_sequence = attempts.last_sequence();
  connection_->send(hello);
}

void Session::send_scratch() {
  const bool unused = parts_.supervisor.attempts().last_sequence() == 0;
  if (const auto bytes = scratch_bytes(unused, parts_.supervisor.boot_id()))
    connection_->send(Scratch{*bytes});
}

void Session::send_ram() {
  if (const auto bytes = ram_bytes()) connection_->send(Ram{*bytes});
}

void Session::send_listing() {
  Listing listing;
  listing.last = false;
  std::size_t cards = 0;
  for (const auto& [id, attempt] : parts_.supervisor.attempts().all()) {
    listing.known.push_back({id, attempt.phase(), attempt.begin.cards});
    if (attempt.end) exits_.push_back(id);
    cards += attempt.begin.cards.size();
    if (listing.known.size() < kListingMax && cards < kListedCardsMax) continue;
    connection_->send(listing);
    listing.known.clear();
    cards = 0;
  }
  listing.last = true;
  connection_->send(listing);
}

bool Session::on_readable() {
  if (!connection_->read_some()) return false;
  while (!quit_asked_) {
    auto message = connection_->next();
    if (!message) {
      connection_->send(Problem{message.error().message.substr(0, kTextMax)});
      (void)connection_->write_some();
      return false;
    }
    if (!*message) return true;
    std::visit([this](const auto& m) { on(m); }, **message);
    // The daemon sends requests and does not read the answers.
    if (connection_->queued() > kUnreadMax) return false;
  }
  return true;
}

bool Session::flush() {
  if (told_cards_) {
    send_exits();
    output_.send(parts_.supervisor.attempts(), *connection_);
  }
  if (!connection_->write_some()) return false;
  const bool wait = connection_->queued() > 0;
  if (wait != std::exchange(waits_for_room_, wait))
    parts_.poller.change(connection_->out(), wait ? std::uint32_t{EPOLLOUT} : 0U);
  return true;
}

void Session::send_exits() {
  while (!exits_.empty() && connection_->has_room()) {
    const model::AttemptId id = exits_.front();
    exits_.pop_front();
    const Attempt* attempt = parts_.supervisor.attempts().find(id);
    if (attempt == nullptr || !attempt->end) continue;
    if (never_started(*attempt->end)) tell_lost_folder();
    connection_->send(Exit{id, *attempt->end});
    if (attempt->end->output_is_inline)
      output_.forget(id);
    else
      output_.on_new_output(id);
  }
}

void Session::tell_lost_folder() {
  if (told_lost_folder_) return;
  const std::string problem = lost_folder(parts_.supervisor.folder());
  if (problem.empty()) return;
  told_lost_folder_ = true;
  connection_->send(HostBroken{model::kFolderCheck, problem.substr(0, kTextMax)});
}

void Session::on_ended(const std::set<model::AttemptId>& ids) {
  exits_.insert(exits_.end(), ids.begin(), ids.end());
}

void Session::on_cards(const Cards& cards) {
  connection_->send(cards);
  told_cards_ = true;
  for (const Checks::Finding& finding : std::exchange(early_findings_, {})) on_finding(finding);
}

void Session::on_finding(const Checks::Finding& finding) {
  if (!told_cards_) {
    early_findings_.push_back(finding);
    return;
  }
  if (finding.kind == Check::Kind::kHealthy)
    connection_->send(HostBroken{finding.check, finding.text});
  else
    connection_->send(SpotNotice{finding.text});
}

// ---- the daemon's messages ---------------------------------------------------------------------

void Session::apply(const Configure& configure) {
  parts_.supervisor.set_uids(configure.uid_first, configure.uid_count);
  parts_.blobs.set_max(configure.blobs_max);
  parts_.checks.configure(configure.checks);
}

void Session::on(const Configure& configure) {
  apply(configure);
  parts_.cards.configure(configure, parts_.supervisor.card_holders().guard(), boottime_us());
}

void Session::on(const Guard& guard) { parts_.supervisor.card_holders().set_files(guard.files); }

void Session::on(const Start& start) {
  const auto answer = parts_.supervisor.start(start);
  if (std::holds_alternative<Refused>(answer)) tell_lost_folder();
  std::visit([this](const auto& message) { connection_->send(message); }, answer);
  if (start.credit == 0 || !std::holds_alternative<Started>(answer)) return;
  for (const std::uint32_t stream : {kStdout, kStderr})
    output_.add_credit(Credit{start.attempt, stream, 0, start.credit}, false);
}

void Session::on(const Kill& kill) { parts_.supervisor.kill(kill.attempt, kill.at_once); }

void Session::on(const Interrupt& notice) { parts_.supervisor.interrupt(notice); }

void Session::on(const List&) {
  exits_.clear();  // send_listing() names all of them again
  send_listing();
}

void Session::on(const Ack& ack) {
  for (const model::AttemptId id : ack.attempts)
    if (parts_.supervisor.forget(id)) output_.forget(id);
}

void Session::on(const Credit& credit) {
  if (parts_.supervisor.attempts().find(credit.attempt) != nullptr) output_.add_credit(credit);
}

void Session::on(const ListFiles& list) {
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

void Session::on(const BlobQuery& query) {
  connection_->send(BlobState{query.sha256, parts_.blobs.has(query.sha256), ""});
}

void Session::on(const BlobPut& put) {
  const auto answer = parts_.blobs.put(put);
  if (!answer) return;
  if (!answer->problem.empty()) tell_lost_folder();
  connection_->send(*answer);
}

void Session::on(const Ping& ping) { connection_->send(Pong{ping.token}); }

}  // namespace hostler::agent
