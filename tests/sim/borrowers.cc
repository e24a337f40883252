#include "tests/sim/borrowers.h"

#include <algorithm>
#include <utility>
#include <variant>

namespace hostler::sim {
namespace {

using model::InstanceState;
using model::WorkState;
using namespace std::chrono_literals;

constexpr dispatch::Ticket kFirstLease = 3'000'000;  ///< Above those of all others.
constexpr Duration kLongestTerm = 5min;
/// How late a lease may end after its term: the daemon may have been down.
constexpr Duration kLate = 1min;
constexpr Duration kRounding = 1s;

bool is_lease(model::WorkId id) { return id.kind == model::WorkKind::kLease; }

bool has_host(WorkState state) {
  return state == WorkState::kStarting || state == WorkState::kRunning ||
         state == WorkState::kCollecting;
}

/// Nobody can get work there.
bool is_out(const model::InstanceRecord& host) {
  const auto state = host.state;
  return host.health == model::Health::kBroken ||
         (state != InstanceState::kIdle && state != InstanceState::kBusy &&
          state != InstanceState::kUnknown && state != InstanceState::kBooting);
}

}  // namespace

Borrowers::Borrowers(std::uint64_t seed, Timeline& time, const Disk& disk, Post post,
                     Disk::Complain complain)
    : random_(seed ^ 0x1ea5e),
      time_(time),
      disk_(disk),
      post_(std::move(post)),
      complain_(std::move(complain)) {}

Duration Borrowers::between(Duration from, Duration until) {
  const auto ms = static_cast<std::uint64_t>((until - from) / 1ms);
  return from + 1ms * static_cast<std::int64_t>(random_.below(ms));
}

void Borrowers::make_policy(model::PoolPolicy& pool) {
  pool.leases = model::LeasePolicy{};
  pool.leases->max_term = kLongestTerm;
  if (random_.chance(0.5)) {
    pool.leases->clean_command = "clean";
  } else if (random_.chance(0.5)) {
    accounts_.emplace(disk_, complain_);
    pool.leases->login = model::Login::kUser;
    pool.leases->notice_before = 30s;
    pool.leases->grace = 5s;
  }
}

// ---- what they do ------------------------------------------------------------------------------

void Borrowers::begin(Duration time) {
  for (std::uint64_t n = 1 + random_.below(12); n > 0; --n) {
    Wish wish;
    auto& item = wish.asked.work;
    wish.asked.ticket = kFirstLease + wishes_.size();
    wish.asked.principal = random_.chance(0.5) ? "ann" : "bob";
    item.client_key = "lease-" + std::to_string(wishes_.size());
    item.client_digest = "digest";
    item.shape.needs = {.vcpus = 1 + static_cast<std::int32_t>(random_.below(8)),
                        .gpus = 0,
                        .ram = std::int64_t{1} << 30,
                        .scratch = 0};
    item.shape.priority = static_cast<std::int32_t>(random_.below(3));
    item.shape.lasts = wish.asked.lease.term = between(20s, kLongestTerm);
    if (random_.chance(0.3)) wish.asked.lease.wait_max = between(30s, 5min);
    if (accounts_) wish.asked.lease.ssh_keys = {"key"};
    wishes_.push_back(std::move(wish));
    time_.after(between(0s, time), [this, index = wishes_.size() - 1] { ask(index); });
  }
  wish_for_gangs(time);
}

/// Some gangs are so large that they are refused.
void Borrowers::wish_for_gangs(Duration time) {
  for (std::uint64_t n = 1 + random_.below(3); n > 0; --n) {
    Wish wish;
    auto& item = wish.asked.work;
    wish.asked.ticket = kFirstLease + wishes_.size();
    wish.asked.principal = random_.chance(0.5) ? "ann" : "bob";
    item.client_key = "gang-" + std::to_string(wishes_.size());
    item.client_digest = "digest";
    item.shape.needs = {.vcpus = 1, .gpus = 0, .ram = std::int64_t{1} << 30, .scratch = 0};
    const auto size = static_cast<std::uint32_t>(2 + random_.below(3));
    item.shape.gang = {0, random_.chance(0.2) ? 1000U : size, false};
    item.shape.lasts = wish.asked.lease.term = between(20s, kLongestTerm);
    wish.asked.lease.wait_max = between(1min, 10min);  // Limits may hold it back for ever.
    if (accounts_) wish.asked.lease.ssh_keys = {"key"};
    wishes_.push_back(std::move(wish));
    time_.after(between(0s, time), [this, index = wishes_.size() - 1] { ask(index); });
  }
}

/// Asks until there is an answer: the client key makes it one lease.
void Borrowers::ask(std::size_t index) {
  const Wish& wish = wishes_[index];
  if (calm_ || wish.lease) return;
  post_(wish.asked);
  time_.after(between(1s, 5s), [this, index] { ask(index); });
}

bool Borrowers::hear(const dispatch::Reply& answer) {
  if (answer.ticket < kFirstLease || answer.ticket >= kFirstLease + wishes_.size()) return false;
  if (!answer.result) return true;  // No type may fit now, or the quota: they ask again.
  const auto index = static_cast<std::size_t>(answer.ticket - kFirstLease);
  Wish& wish = wishes_[index];
  const model::WorkId lease = answer.result->front();
  if (wish.lease && wish.lease != lease) complain_("one client key, two leases");
  if (!disk_.jobs().contains(lease) && !disk_.forgotten().contains(lease))
    complain_("an accepted lease is not durable");
  if (!std::exchange(wish.lease, lease)) use(index);
  return true;
}

void Borrowers::use(std::size_t index) {
  time_.after(between(1s, 1min), [this, index] {
    const auto row = disk_.jobs().find(wishes_[index].lease);
    if (row == disk_.jobs().end() || model::is_terminal(row->second.record.state)) return;
    act(row->second);
    use(index);
  });
}

/// Does nothing one time in three: some users forget their lease until the term ends.
void Borrowers::act(const model::WorkItem& row) {
  const auto id = row.record.id;
  const auto what = random_.below(9);
  if (row.record.state != WorkState::kRunning) {
    if (what == 0) post_(dispatch::CancelWork{0, row.principal, false, id});
    return;
  }
  if (what < 2) return post_(dispatch::ReturnLease{0, row.principal, false, id, true});
  if (what == 2) return post_(dispatch::ReturnLease{0, row.principal, false, id, false});
  if (what == 3) return post_(dispatch::CancelWork{0, row.principal, false, id});
  if (what < 6 && !calm_)
    post_(dispatch::RenewLease{0, row.principal, false, id, between(20s, kLongestTerm)});
}

// ---- what is promised to them ------------------------------------------------------------------

void Borrowers::daemon_started(Now now) {
  lent_.clear();
  terms_.clear();
  for (const auto& [id, row] : disk_.jobs()) {
    if (!is_lease(id) || !has_host(row.record.state)) continue;
    lent_[id] = {row.record.instance, row.record.state};
    if (row.record.state == WorkState::kRunning)
      terms_[id] = {now.mono, disk_.terms(id).term, /*is_bound_only=*/true, disk_.terms(id).until};
  }
}

void Borrowers::decided(const dispatch::Outbox& outbox, Now now) {
  for (const auto& change : outbox.changes) {
    if (const auto* row = std::get_if<model::LeaseChanged>(&change);
        row != nullptr && row->record.until.us != 0 && row->record.used)
      if (Term& term = terms_[row->record.id];
          !term.is_over && term.until.us != row->record.until.us)
        term = {now.mono, row->record.term, false, row->record.until};
    const auto* work = std::get_if<model::WorkChanged>(&change);
    if (work == nullptr || work->record.state == WorkState::kRunning) continue;
    const auto term = terms_.find(work->record.id);
    if (term == terms_.end() || term->second.is_over) continue;
    if (work->record.reason == model::EndReason::kTerm && !term->second.is_bound_only &&
        now.mono + kRounding < term->second.since + term->second.term)
      complain_(work->record.id.text() + " ends before its term is over");
    term->second.is_over = true;
  }
}

void Borrowers::check(Now now) {
  for (const auto& [id, term] : terms_)
    if (!term.is_over && term.since + term.term + kLate < now.mono)
      return complain_(id.text() + " is lent for longer than its term");
}

void Borrowers::count_gangs(const model::GangCounts& counts) {
  const auto add = [&](std::uint64_t model::GangCounts::*one) {
    if (counts.*one < counted_.*one) counted_.*one = 0;  // The daemon was started.
    gangs_.*one += counts.*one - counted_.*one;
    counted_.*one = counts.*one;
  };
  add(&model::GangCounts::granted);
  add(&model::GangCounts::let_go);
  add(&model::GangCounts::refused);
}

/// One decision has `done` this to these leases: to all of a gang, or to none.
void Borrowers::check_gangs(const std::set<model::WorkId>& leases, const char* done) {
  std::map<std::uint64_t, std::uint32_t> together;
  for (const auto id : leases) {
    const auto row = disk_.jobs().find(id);
    if (row == disk_.jobs().end() || row->second.shape.gang.count == 0) continue;
    ++together[row->second.shape.gang.id];
  }
  for (const auto& [id, count] : together) {
    const auto row = disk_.jobs().find({id, model::WorkKind::kLease});
    if (row != disk_.jobs().end() && row->second.shape.gang.count != count)
      complain_("of the gang of l-" + std::to_string(id) + " only " + std::to_string(count) +
                " are " + done);
  }
}

void Borrowers::committed(const dispatch::Outbox& outbox) {
  std::set<model::WorkId> placed, granted;
  for (const auto& change : outbox.changes) {
    const auto* work = std::get_if<model::WorkChanged>(&change);
    if (work == nullptr || !is_lease(work->record.id)) continue;
    const WorkState state = work->record.state;
    const auto before = lent_.find(work->record.id);
    if (state == WorkState::kStarting && before == lent_.end()) placed.insert(work->record.id);
    // Leases of a restored state are granted one by one, when their hosts report.
    if (state == WorkState::kRunning && !work->record.restored &&
        (before == lent_.end() || before->second.state != WorkState::kRunning))
      granted.insert(work->record.id);
  }
  check_gangs(placed, "placed");
  check_gangs(granted, "granted");
  if (accounts_) accounts_->committed(outbox);
  std::set<std::string> cleaned;
  for (const auto& change : outbox.changes)
    if (const auto* row = std::get_if<model::LedgerRecord>(&change);
        row != nullptr && row->event == model::Event::kCommandEnded &&
        row->reason.starts_with("the host is cleaned") && row->reason.ends_with(": status 0"))
      cleaned.insert(row->subject);
  for (const auto& change : outbox.changes) {
    const auto* work = std::get_if<model::WorkChanged>(&change);
    if (work == nullptr || !is_lease(work->record.id)) continue;
    const auto before = lent_.find(work->record.id);
    if (has_host(work->record.state)) {
      lend(work->record);
    } else if (before != lent_.end()) {
      check_returned(work->record, before->second, cleaned);
      lent_.erase(before);
    }
  }
  for (const auto& change : outbox.changes) {
    const auto* host = model::get_change<model::InstanceChanged>(change);
    if (host != nullptr && host->record.state == InstanceState::kTerminating &&
        is_own_will(host->record.reason_code) && is_lent(host->record.id))
      complain_(host->record.id.text() + " is ended as " + to_string(host->record.reason_code) +
                ", and it is lent");
  }
  for (const auto& effect : outbox.effects) {
    const auto* command = std::get_if<model::HostCommand>(&effect);
    const auto* start = command == nullptr ? nullptr : std::get_if<model::StartAttempt>(command);
    if (start == nullptr) continue;
    if (is_lent(start->instance))
      complain_(start->attempt.text() + " is placed on " + start->instance.text() +
                ", and it is lent");
    check_clean(start->attempt.text(), start->instance);
  }
}

void Borrowers::lend(const model::WorkRecord& record) {
  const auto [at, fresh] = lent_.try_emplace(record.id, Lent{record.instance, record.state});
  Lent& lent = at->second;
  if (lent.host != record.instance) complain_(record.id.text() + " has two hosts");
  if (fresh) check_lent(record.id, lent);
  if (record.state == WorkState::kRunning && (fresh || lent.state != WorkState::kRunning))
    ++granted_;
  lent.state = record.state;
}

/// Nothing is placed on a host that a holder has left as it was, also if it was lost meanwhile.
void Borrowers::check_clean(const std::string& work, model::InstanceId host) {
  if (const auto before = used_.find(host); before != used_.end())
    complain_(work + " gets " + host.text() + " as " + before->second.text() + " has left it");
}

/// The host is lent to nobody else, and no work is there. The rows of the decision are on the disk.
void Borrowers::check_lent(model::WorkId id, const Lent& lent) {
  check_clean(id.text(), lent.host);
  for (const auto& [other, row] : disk_.jobs())
    if (other != id && row.record.instance == lent.host && has_host(row.record.state))
      complain_(lent.host.text() + " is lent as " + id.text() + ", and " + other.text() +
                " is there");
}

void Borrowers::check_returned(const model::WorkRecord& record, const Lent& before,
                               const std::set<std::string>& cleaned) {
  const bool was_granted = before.state != WorkState::kStarting;
  const bool is_unused =
      record.reason == model::EndReason::kReturned && !disk_.terms(record.id).used;
  if (!was_granted || is_unused || cleaned.contains(before.host.text())) return;
  used_[before.host] = record.id;
  const auto* host = disk_.instance(before.host);
  if (host != nullptr && !is_out(host->record))
    complain_(before.host.text() + " was lent as " + record.id.text() +
              ", and is given back without cleaning");
}

bool Borrowers::is_lent(model::InstanceId host) const {
  return std::ranges::any_of(lent_, [&](const auto& one) { return one.second.host == host; });
}

}  // namespace hostler::sim
