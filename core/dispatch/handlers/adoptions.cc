#include "core/dispatch/handlers/adoptions.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <unordered_set>
#include <utility>

#include "core/base/text.h"
#include "core/dispatch/handlers/new_host.h"

namespace hostler::dispatch {
namespace {

/// Between two slices. The store commits one meanwhile, so that other changes do not wait long.
constexpr Duration kSlicePause = std::chrono::milliseconds(100);
constexpr auto kMayBeLent = "it may be lent, and the journal would not know it";
constexpr auto kMayRunTasks = "an outside scheduler may have an agent there under another name";

bool has_set(const model::PoolPolicy& pool, const Set& set) {
  return std::ranges::find(pool.sets, set.name) != pool.sets.end();
}

/// An admin who has looked at the strangers before need not look again.
bool has_others(const StrangeList& list, const StrangeList& before) {
  const auto id = [](const Stranger& one) -> const std::string& { return one.seen->id; };
  if (std::ranges::equal(list.strangers, before.strangers, {}, id, id)) return false;
  std::unordered_set<std::string_view> known;
  for (const Stranger& one : before.strangers) known.insert(one.seen->id);
  return !std::ranges::all_of(list.strangers,
                              [&](const Stranger& one) { return known.contains(one.seen->id); });
}

}  // namespace

std::optional<std::uint32_t> Adoptions::pool_of(const Set& set,
                                                const model::ListedInstance& seen) const {
  const auto& pools = policy_.pools;
  std::optional<std::uint32_t> pool;
  for (std::uint32_t i = 0; i < pools.size(); ++i) {
    if (!has_set(pools[i], set)) continue;
    if (!pool || pools[i].name == seen.pool) pool = i;
  }
  return pool;
}

std::optional<Stranger> Adoptions::stranger(
    std::uint32_t index, std::shared_ptr<const model::ListedInstance> seen) const {
  const auto pool = pool_of(sets_.at(index), *seen);
  if (!pool) return std::nullopt;
  Stranger out{.seen = std::move(seen), .pool = *pool, .price_per_hour = {}};
  if (const auto type = menu_.type_index(out.seen->type))
    out.price_per_hour = menu_.price_of(index, *type, out.seen->zone, out.seen->market);
  if (out.seen->price_per_hour) out.price_per_hour = *out.seen->price_per_hour;
  return out;
}

bool Adoptions::are_many(std::uint32_t index, std::size_t strangers) const {
  if (strangers <= limits_.doubted) return false;
  std::int64_t most = 0;
  for (std::uint32_t i = 0; i < policy_.pools.size(); ++i)
    if (has_set(policy_.pools[i], sets_.at(index))) most += bounds_.hosts_max(policy_, i);
  return static_cast<std::int64_t>(strangers) > limits_.per_max * most;
}

bool Adoptions::doubts(std::uint32_t index, std::span<const Stranger> strangers, Now now) const {
  return are_many(index, sets_.at(index).strangers.unbelieved(strangers, now.mono));
}

void Adoptions::begin(std::uint32_t index, StrangeList list, Now now) {
  Set& set = sets_.at(index);
  const bool was_doubted = set.strangers.is_doubted();
  uncount(index);
  const bool many = doubts(index, list.strangers, now);
  const StrangeList before = set.strangers.take(std::move(list), many, now);
  set.strangers.count(index, governor_);
  if (was_doubted || set.strangers.is_doubted()) review(set, was_doubted ? &before : nullptr, now);
}

void Adoptions::adopt_first(std::uint32_t index, std::vector<model::InstanceId> shown, Now now) {
  Set& set = sets_.at(index);
  set.strangers.list().shown = std::move(shown);
  if (set.strangers.is_doubted()) return;
  if (set.strangers.left().size() > limits_.slice && set.strangers.list().cause == 0)
    announce(set, "cloud", "", now);
  adopt_slice(index, now);
}

void Adoptions::review(Set& set, const StrangeList* before, Now now) {
  const bool is_doubted = set.strangers.is_doubted();
  if (!is_doubted || before == nullptr || has_others(set.strangers.list(), *before))
    set.omissions.renumber();
  if (is_doubted == (before != nullptr)) return;
  plan_.want();
  recorder_.record("cloud", "set " + set.name,
                   is_doubted ? model::Event::kListDoubted : model::Event::kListTrusted, "",
                   is_doubted ? set.strangers.refuses_creates(set.name)
                              : "it shows no more instances than can be right",
                   now);
}

void Adoptions::announce(Set& set, const char* actor, const std::string& why, Now now) {
  auto& list = set.strangers.list();
  list.cause = recorder_
                   .record(actor, "set " + set.name, model::Event::kAdopting, "",
                           "the list shows " + std::to_string(list.strangers.size()) +
                               " instances that hostlerd does not know" + why,
                           now)
                   .rev;
}

void Adoptions::go_on(std::uint32_t index, Now now) {
  Set& set = sets_.at(index);
  if (set.in_hand || !set.strangers.is_adopting() || set.strangers.next() > now.mono) return;
  if (set.takes_answer(set.strangers.list().sent)) return adopt_slice(index, now);
  uncount(index);  // Perhaps they are of another account; the next list shows them again.
  set.strangers.end();
  set.want_list(policy_.sets[index], now.mono);
}

void Adoptions::adopt_slice(std::uint32_t index, Now now) {
  Set& set = sets_.at(index);
  const auto left = set.strangers.left();
  const auto slice = left.first(std::min(limits_.slice, left.size()));
  Hosts::CloudIds ids;
  for (const Stranger& one : slice)
    for (const auto* id : {&one.seen->id, &one.seen->request_id})
      if (!id->empty()) ids.try_emplace(*id);
  hosts_.find_by_cloud_ids(set.name, ids);
  for (const Stranger& one : slice) {
    governor_.removed(index, one.pool, one.price_per_hour);
    // The answer to a create, or another entry of the list, may have made it known meanwhile.
    auto known = hosts_.find_listed(set.name, *one.seen);
    if (!known) known = ids[one.seen->id];
    if (!known && !one.seen->request_id.empty()) known = ids[one.seen->request_id];
    set.strangers.list().shown.push_back(known ? *known : adopt(index, one, now));
    set.strangers.adopted(now.mono);
  }
  if (!set.strangers.left().empty()) return set.strangers.continue_at(now.mono + kSlicePause);
  StrangeList done = set.strangers.end();
  if (done.cause != 0) plan_.want();  // It refused creates until now.
  absences_.after_list(index, std::move(done.shown), done.sent, now);
}

void Adoptions::uncount(std::uint32_t index) {
  for (const Stranger& one : sets_.at(index).strangers.left())
    governor_.removed(index, one.pool, one.price_per_hour);
}

void Adoptions::on(const BelieveList& event, Now now) {
  const auto index = sets_.index_of(event.set);
  Set* set = index ? &sets_.at(*index) : nullptr;
  if (set == nullptr || !set->strangers.is_doubted() || set->omissions.list_number() != event.list)
    return absences_.on(event, now);
  if (!set->takes_answer(set->strangers.list().sent))
    return recorder_.reply(event.ticket,
                           fail(Errc::kConflict, "set " + event.set +
                                                     " is not open, or has another account since "
                                                     "that list: wait for the next one"));
  set->strangers.believe(now.mono);
  set->omissions.renumber();
  announce(*set, "user", ", and " + event.actor + " believes it", now);
  recorder_.reply(event.ticket, std::vector<model::WorkId>{});
}

model::InstanceId Adoptions::adopt(std::uint32_t index, const Stranger& stranger, Now now) {
  const model::ListedInstance& seen = *stranger.seen;
  const auto& list = sets_.at(index).strangers.list();
  const auto& pool = policy_.pools[stranger.pool];
  Host made = new_host(policy_, hosts_, recorder_, index, stranger.pool, now);
  auto& instance = made.instance;
  auto& record = instance.record;
  record.type = seen.type;
  record.zone = seen.zone;
  record.market = seen.market;
  record.idempotency_key = seen.idempotency_key;
  record.provider_id = seen.id;
  if (const auto idle = model::parse_idle_behavior(seen.idle)) record.idle_behavior = *idle;
  record.state = model::InstanceState::kUnknown;
  record.uses = model::kUsesUnknown;
  const bool is_ours = seen.owner == recorder_.owner();
  record.restored = is_ours && lost_time_.may_have_work(seen.epoch);
  if (record.restored) record.epoch = seen.epoch;
  const auto why = !is_ours          ? model::Reason::kTakenOver
                   : record.restored ? model::Reason::kMadeSince
                                     : model::Reason::kNotInJournal;
  record.reason_code = why;
  instance.type = menu_.type_index(record.type);
  if (instance.type) {
    const auto& type = policy_.types[*instance.type];
    record.price_per_hour = menu_.price_of(index, *instance.type, record.zone, record.market);
    record.total = instance.occupancy.room_of(type);
    record.jobs_max = model::jobs_max_of(pool, type);
  }
  instance.deadline = now.mono + pool.boot_timeout;
  Host& added = hosts_.add(std::move(made));
  const model::InstanceId id = added.id();
  steps_.count(added, now);  // Of the menu's price; that of the list may be doubted.
  recorder_.record("cloud", id.text(), model::Event::kAdopted, to_string(why),
                   "the cloud lists " + printable(seen.id, 80) + " as this set's", now, list.cause);
  // One of a restored state is held when it has reported.
  if ((pool.leases || pool.pushed) && !record.restored)
    steps_.apply(added, fleet::hold(added.instance, pool.pushed ? kMayRunTasks : kMayBeLent, now),
                 "cloud", now);
  auto outcome = fleet::listed(added.instance, seen, list.as_of, pool, now);
  outcome.changed = true;
  steps_.apply(added, std::move(outcome), "cloud", now);
  if (const auto was = ended_.find(seen.set_id, seen)) end_again(id, *was, now);
  return id;
}

void Adoptions::end_again(model::InstanceId id, model::InstanceId was, Now now) {
  Host* host = hosts_.change(id);
  if (host == nullptr) return;
  const std::string why = "it was " + was.text() + ", which was destroyed and is listed again";
  steps_.apply(*host, fleet::terminate(host->instance, model::Reason::kListedAfterEnd, why, now),
               "cloud", now);
}

}  // namespace hostler::dispatch
