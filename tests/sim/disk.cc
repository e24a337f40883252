#include "tests/sim/disk.h"

#include <algorithm>
#include <utility>

namespace hostler::sim {

bool is_own_will(model::Reason reason) {
  using enum model::Reason;
  return reason == kIdle || reason == kDrained || reason == kUsedUp || reason == kBootingSurplus ||
         reason == kBroken || reason == kUnwantedSpot || reason == kStandbySurplus ||
         reason == kBeyondMax || reason == kOffMenu || reason == kGaveWay || reason == kExchanged ||
         reason == kAbovePriceLimit || reason == kDisconnected || reason == kTooOld;
}

void Disk::commit(const std::vector<model::Change>& changes) {
  for (const auto& change : changes) std::visit([&](const auto& row) { apply(row); }, change);
}

void Disk::apply(const model::WorkItem& row) {
  if (is_lost(row.record.id)) {  // Taken over.
    if (!jobs_.emplace(row.record.id, row).second)
      complain_(row.record.id.text() + " is taken over twice");
    return;
  }
  if (row.record.id.value <= std::max(last_job_, given_out_)) complain_("job inserted twice");
  jobs_.emplace(row.record.id, row);
  last_job_ = given_out_ = row.record.id.value;
  last_arrival_ = std::max(last_arrival_, row.arrival);
  if (!row.client_key.empty() && !client_keys_.insert({row.principal, row.client_key}).second)
    complain_("one client key made two jobs: " + row.client_key);
}

void Disk::apply(const model::WorkChanged& row) {
  const auto found = jobs_.find(row.record.id);
  if (found == jobs_.end()) return complain_("unknown job changed: " + row.record.id.text());
  auto& known = found->second.record;
  if (model::is_terminal(known.state))
    complain_(row.record.id.text() + " had ended and changed to " +
              model::to_string(row.record.state));
  const bool skips = known.restored && row.record.attempt != known.attempt;
  if (row.record.attempt < known.attempt || (row.record.attempt > known.attempt + 1 && !skips))
    complain_(row.record.id.text() + " skipped an attempt");
  known = row.record;
  if (model::is_terminal(known.state)) ended_.push_back(known.id);
}

std::vector<model::WorkId> Disk::forget() {
  auto past = std::exchange(ended_long_ago_, std::exchange(ended_, {}));
  for (const auto id : past) {
    auto row = jobs_.extract(id);
    client_keys_.erase({row.mapped().principal, row.mapped().client_key});
    leases_.erase(id);
    const model::AttemptId first{id, 0};
    auto at = attempts_.lower_bound(first);
    while (at != attempts_.end() && at->first.work == id) {
      if (at->second.state != model::AttemptState::kDone)
        complain_(at->first.text() + " goes on, and its job ended long ago");
      at = attempts_.erase(at);
    }
    forgotten_.insert(std::move(row));
  }
  return past;
}

void Disk::apply(const model::LeaseChanged& row) {
  if (!jobs_.contains(row.record.id))
    complain_("terms of an unknown lease: " + row.record.id.text());
  leases_[row.record.id] = row.record;
}

void Disk::apply(const model::AttemptChanged& row) {
  const auto found = attempts_.find(row.attempt);
  if (found == attempts_.end() && row.state != model::AttemptState::kIntended)
    complain_(row.attempt.text() + " ended without an intent");
  const bool told_again = found != attempts_.end() && row.state == model::AttemptState::kEnded &&
                          row.state == found->second.state && row.end->output_is_inline;
  if (found != attempts_.end() && row.state <= found->second.state && !told_again &&
      row.state != model::AttemptState::kDone && !is_found_again(found->second, row))
    complain_(row.attempt.text() + " went back in its life");
  if (found != attempts_.end() && row.cards != found->second.cards &&
      !is_found_again(found->second, row))
    complain_(row.attempt.text() + " has other cards than before");
  attempts_[row.attempt] = row;
}

bool Disk::is_found_again(const model::AttemptChanged& known,
                          const model::AttemptChanged& row) const {
  const bool was_lost = known.state == model::AttemptState::kDone &&
                        (!known.end || known.end->reason == model::EndReason::kHostLost);
  const auto job = jobs_.find(row.attempt.work);
  if (!was_lost || row.instance != known.instance || job == jobs_.end()) return false;
  const auto& present = job->second.record;
  return row.state == model::AttemptState::kIntended &&
         present.state == model::WorkState::kRunning && present.instance == row.instance &&
         present.attempt == row.attempt.number;
}

void Disk::apply(const model::InstanceChanged& row) {
  auto& known = instances_[row.record.id];
  if (known.record.state == model::InstanceState::kGone)
    complain_(row.record.id.text() + " was gone and changed");
  const auto state = row.record.state;
  if (state == model::InstanceState::kTerminating && known.record.state != state &&
      row.record.idle_behavior == model::IdleBehavior::kHold && is_own_will(row.record.reason_code))
    complain_(row.record.id.text() + " is ended as " + to_string(row.record.reason_code) +
              " against a hold");
  known.record = row.record;
  if (row.create) known.create = row.create;
  if (row.erase_create) known.create.reset();
}

void Disk::apply(const model::PriceRow& row) {
  const auto [known, fresh] = prices_.try_emplace({row.set, row.type, row.zone, row.market}, row);
  if (!fresh && row.point.start < known->second.point.start)
    complain_("the price of " + row.type + " went back in time");
  known->second = row;
}

void Disk::apply(const model::LedgerRecord& row) {
  if (row.rev <= revision_)
    complain_("revision " + std::to_string(row.rev) + " after " + std::to_string(revision_));
  revision_ = row.rev;
  if (row.event == model::Event::kLeftoverDestroying) leftover_intents_.insert(row.reason_code);
}

model::Restored Disk::open() {
  model::Restored out;
  out.owner = "owner-1";
  out.epoch = ++epoch_;
  out.last_revision = revision_;
  out.last_work = last_job_;
  out.last_arrival = std::max(last_arrival_, last_job_);
  out.goes_on = std::exchange(goes_on_, false);
  out.restored_epoch = restored_epoch_;
  if (restored_epoch_ != 0) out.left_out = {left_out_};
  out.last_instance = last_instance_;
  for (const auto& [id, row] : jobs_) {
    if (!row.client_key.empty())
      out.client_keys.push_back({row.principal, row.client_key, row.client_digest, id});
    if (model::is_terminal(row.record.state)) {
      if (left_out_.contains(id.value)) out.taken_over.push_back(id);
      continue;
    }
    out.work.push_back(row);
    out.work.back().body.reset();
  }
  std::sort(out.work.begin(), out.work.end(),
            [](const auto& a, const auto& b) { return a.arrival < b.arrival; });
  for (const auto& item : out.work)
    if (const auto terms = leases_.find(item.record.id); terms != leases_.end())
      out.leases.push_back(terms->second);
  for (const auto& [id, row] : attempts_) {
    if (row.state == model::AttemptState::kDone) continue;
    out.attempts.push_back(row);
    if (out.attempts.back().end) {
      out.attempts.back().end->stdout_inline.clear();
      out.attempts.back().end->stderr_inline.clear();
    }
  }
  for (const auto& [id, row] : instances_) {
    out.last_instance = std::max(out.last_instance, id.value);
    if (row.record.state != model::InstanceState::kGone) out.instances.push_back(row);
  }
  for (const auto& [key, gate] : gates_) out.gates.push_back(gate);
  for (const auto& [key, price] : prices_) out.prices.push_back(price);
  for (const auto& [set, account] : accounts_) out.accounts.push_back(account);
  out.images = images();
  for (const auto& [principal, use] : uses_) out.uses.push_back(use);
  for (const auto& [pool, pusher] : pushers_) out.pushers.push_back(pusher);
  for (const auto& [key, row] : offered_) out.offered.push_back(row);
  for (const auto& [key, row] : ram_reports_) out.ram_reports.push_back(row);
  for (const auto& [key, row] : gpu_reports_) out.gpu_reports.push_back(row);
  return out;
}

std::vector<model::ImageRow> Disk::images() const {
  std::vector<model::ImageRow> out;
  for (const auto& [key, row] : images_) out.push_back(row);
  return out;
}

/// As store::Known::accept() does it.
void Disk::put_back(const Disk& older) {
  constexpr std::uint64_t kLeftOut = 1'000'000, kEpochs = 1'000;
  const auto given_out = given_out_;
  const auto complain = complain_;
  const auto revision = revision_;
  *this = older;
  complain_ = complain;
  given_out_ = given_out;
  revision_ = revision;
  left_out_ = {last_job_ + 1, last_job_ + kLeftOut};
  last_job_ = left_out_.last;
  for (const auto& [id, row] : instances_) last_instance_ = std::max(last_instance_, id.value);
  last_instance_ += kLeftOut;
  epoch_ += kEpochs;
  restored_epoch_ = epoch_ + 1;
  goes_on_ = true;
  for (auto& [id, row] : jobs_) {
    if (model::is_terminal(row.record.state)) continue;
    row.record.restored = true;
    if (row.record.state == model::WorkState::kQueued) row.record.state = model::WorkState::kHeld;
  }
  for (auto& [id, row] : instances_) {
    row.record.restored = row.record.state != model::InstanceState::kTerminating &&
                          row.record.state != model::InstanceState::kAbandoned &&
                          row.record.state != model::InstanceState::kGone;
    if (row.record.restored) row.record.uses = model::kUsesUnknown;
  }
}

const model::InstanceChanged* Disk::instance(model::InstanceId id) const {
  const auto found = instances_.find(id);
  return found == instances_.end() ? nullptr : &found->second;
}

std::int64_t Disk::known_price(const model::InstanceType& type) const {
  std::optional<std::int64_t> highest;
  for (const auto& [key, row] : prices_)
    if (row.type == type.name && row.market == type.market)
      highest = std::max(highest.value_or(0), row.point.per_hour.value);
  return highest.value_or(type.price_per_hour.value);
}

const model::AttemptChanged* Disk::attempt(model::AttemptId id) const {
  const auto found = attempts_.find(id);
  return found == attempts_.end() ? nullptr : &found->second;
}

}  // namespace hostler::sim
