#include "core/dispatch/handlers/list_events.h"

#include <algorithm>
#include <chrono>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "core/base/assert.h"
#include "core/base/text.h"
#include "core/dispatch/handlers/new_host.h"
#include "core/dispatch/handlers/spot_requests.h"

namespace hostler::dispatch {
namespace {

constexpr Duration kFlawsToldAgain = std::chrono::hours(1);

/// In all other states the same entry may tell something new later.
bool is_at_work(const Host& host, const model::ListedInstance& seen) {
  const auto state = host.instance.record.state;
  return seen.state == model::CloudState::kRunning && !host.calls.any() &&
         (state == model::InstanceState::kIdle || state == model::InstanceState::kBusy);
}

}  // namespace

void ListEvents::send_due(std::uint32_t index, Now now) {
  Set& set = sets_.at(index);
  if (set.lists.overdue_at() <= now.mono) set_overdue(index);
  if (!set.is_open() || set.in_hand || set.strangers.is_adopting() || !set.lists.is_due(now.mono))
    return;
  const gates::GateQuery query{.set = set.name, .op = model::CloudOp::kList};
  if (const auto* gate = gates_.shut(query, now.mono)) {
    set.lists.hold_back(std::max(gate->until, now.mono + std::chrono::seconds(1)));
    suspend_by(set, *gate);
    return;
  }
  gates_.sent(query, now.mono);
  set.lists.sent(now.mono);
  model::ListRequest request;
  request.tag_filter[model::tag::kSet] = set.name;
  recorder_.effect(ListCall{set.name, std::move(request), policy_.sets[index].list_timeout});
}

/// Hosts that only a list can bring nearer to being ready keep no work from other sets.
void ListEvents::set_overdue(std::uint32_t index) {
  sets_.at(index).lists.set_overdue();
  for (const auto id : hosts_.ids()) {
    const auto& instance = hosts_.find(id)->instance;
    if (instance.set == index && fleet::awaits_list(instance, policy_.pools[instance.pool]))
      hosts_.change(id)->made_for.release();
  }
  hosts_.touch_all();
  plan_.want();
}

/// What is created in a set that cannot be listed might never be seen.
void ListEvents::suspend_by(Set& set, const gates::Gate& gate) {
  if (!gates::is_of_crashes(gate.record) || !set.lists.suspend(gate.record.message)) return;
  hosts_.touch_all();
  plan_.want();
}

void ListEvents::on(const SetListed& event, Now now) {
  const auto index = sets_.index_of(event.set);
  if (!index) return;
  Set& set = sets_.at(*index);
  const auto& policy = policy_.sets[*index];
  set.lists.answered();
  if (!set.takes_answer(event.sent)) {  // Perhaps the list of another account.
    const model::CloudError* error = event.result ? nullptr : &event.result.error();
    return gates_.answered({.set = set.name, .op = model::CloudOp::kList}, error, now);
  }
  if (!event.result) return failed(*index, event.result.error(), now);
  gates_.answered({.set = set.name, .op = model::CloudOp::kList}, nullptr, now);
  if (set.list_succeeded(policy, event.sent, now.mono)) {
    hosts_.touch_all();
    plan_.want();
  }
  set.want_list(policy, now.mono + policy.list_interval);
  if (set.in_hand || set.strangers.is_adopting()) return;  // Asked for before that began.
  set.shown.count = static_cast<std::int64_t>(event.result->size());
  tags_.begin(set);
  set.in_hand = read(*index, event, now);
  go_on(*index, now);
}

ListInHand ListEvents::read(std::uint32_t index, const SetListed& event, Now now) {
  Set& set = sets_.at(index);
  const Mono as_of = event.sent - set.info.list_consistency;
  ListInHand out{.sent = event.sent, .as_of = as_of, .entries = {}, .sightings = {}, .foreign = {}};
  out.entries = set.shown.last.compare(*event.result, as_of, now.mono);
  const std::size_t false_requests = drop_false_requests(out.entries);
  auto sightings = recognise(set, out.entries);
  if (!sightings) {
    for (auto& one : out.entries)
      if (const auto settled = std::exchange(one.settled, nullptr)) settled->in_list = 0;
    sightings = recognise(set, out.entries);
  }
  HOSTLER_ASSERT(sightings, "no entry contradicts a settled one where none is settled");
  out.sightings = *std::move(sightings);
  report_flaws(set, out.sightings, false_requests, now);
  auto unknown = strangers(index, out.entries, out.sightings);
  if (!adoptions_.doubts(index, unknown, now))
    duplicates_.end(set, out.sightings, adoptions_.limits().slice, now);
  for (auto& one : out.entries)
    if (!one.settled) one.host.reset();
  adoptions_.begin(index, {out.sent, as_of, {}, std::move(unknown)}, now);
  return out;
}

void ListEvents::go_on(std::uint32_t index, Now now) {
  Set& set = sets_.at(index);
  if (!set.in_hand) return;
  ListInHand& list = *set.in_hand;
  if (!set.takes_answer(list.sent)) {  // It may have another account by now.
    set.in_hand.reset();
    return set.want_list(policy_.sets[index], now.mono);
  }
  const std::size_t all = list.sightings.size();
  const std::size_t end = std::min(all, list.taken + adoptions_.limits().taken);
  for (; list.taken < end; ++list.taken) {
    const Sighting& one = list.sightings[list.taken];
    auto& entry = list.entries[one.at];
    entry.host = take(set, one, now);
    const Host* host = entry.host ? hosts_.find(*entry.host) : nullptr;
    if (host != nullptr) entry.settled = host->settled;
  }
  if (end == all) finish(index, *std::exchange(set.in_hand, std::nullopt), now);
}

void ListEvents::finish(std::uint32_t index, ListInHand done, Now now) {
  Set& set = sets_.at(index);
  set.problem = std::move(done.foreign);
  const bool is_foreign = !set.problem.empty();
  if (std::exchange(set.shown.foreign, is_foreign) != is_foreign) {
    hosts_.touch_all();
    plan_.want();
    recorder_.record("cloud", "set " + set.name,
                     is_foreign ? model::Event::kForeignOwner : model::Event::kForeignOwnerLeft, "",
                     set.problem, now);
  }
  std::vector<model::InstanceId> shown;
  shown.reserve(done.entries.size());
  for (const auto& one : done.entries)
    if (one.host) shown.push_back(*one.host);
  set.shown.last.keep(std::move(done.entries));
  adoptions_.adopt_first(index, std::move(shown), now);
}

void ListEvents::failed(std::uint32_t index, const model::CloudError& error, Now now) {
  Set& set = sets_.at(index);
  set.problem = error.message;
  const gates::GateQuery query{.set = set.name, .op = model::CloudOp::kList};
  gates_.answered(query, &error, now);
  if (const auto* gate = gates_.held_by_crashes(query, now.mono)) suspend_by(set, *gate);
  set.list_failed(policy_.sets[index], error.retry_after, now.mono);
}

/// Its key says something: it has the tags of the set, or the cloud hides tags.
bool ListEvents::is_of(const Set& set, const model::ListedInstance& seen) const {
  return seen.tags_unknown || seen.set_id.empty() || seen.set_id == set.name;
}

std::optional<std::vector<Sighting>> ListEvents::recognise(
    const Set& set, const std::vector<LastList::Entry>& entries) {
  std::unordered_set<std::string_view> fulfilled;
  Hosts::CloudIds ids;
  ids.reserve(entries.size());
  for (const auto& [seen, host, settled] : entries) {
    if (!settled && !is_still(set, host, seen->id)) ids.try_emplace(seen->id);
    if (seen->request_id.empty() || seen->request_id == seen->id) continue;
    fulfilled.insert(seen->request_id);
    if (!settled) ids.try_emplace(seen->request_id);
  }
  hosts_.find_by_cloud_ids(set.name, ids);
  for (const auto& [id, known] : ids)
    if (known && is_shown_settled(set, *known)) return std::nullopt;
  std::vector<Sighting> out;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (entries[i].settled) continue;
    const model::ListedInstance& seen = *entries[i].seen;
    // By its id first: another instance may be shown with its key.
    const auto found = ids.find(seen.id);
    auto known = found != ids.end() ? found->second : entries[i].host;
    if (seen.state == model::CloudState::kGone) {
      note_error_of_gone(seen, known);
      continue;
    }
    if (fulfilled.contains(seen.id)) continue;
    if (!known && is_of(set, seen)) known = hosts_.find_listed(set.name, seen);
    // A cloud that hides an instance's tags hides its key too.
    const bool has_key = !seen.tags_unknown && !seen.idempotency_key.empty();
    if (!known && is_of(set, seen) && !has_key)
      if (const auto as = ids.find(seen.request_id); as != ids.end()) known = as->second;
    if (known && is_shown_settled(set, *known)) return std::nullopt;
    out.push_back({&seen, known, i});
  }
  return out;
}

bool ListEvents::is_still(const Set& set, std::optional<model::InstanceId> host,
                          const std::string& id) const {
  const Host* known = host ? hosts_.find(*host) : nullptr;
  return known != nullptr && known->instance.record.set == set.name &&
         known->instance.record.provider_id == id;
}

bool ListEvents::is_shown_settled(const Set& set, model::InstanceId id) const {
  if (!set.shown.last.has_settled()) return false;
  const Host* host = hosts_.find(id);
  return host != nullptr && host->settled && host->settled->in_list == set.shown.last.number();
}

/// It counts as absent, but may say of what it died.
void ListEvents::note_error_of_gone(const model::ListedInstance& seen,
                                    std::optional<model::InstanceId> known) {
  if (seen.state_error.empty() || !known) return;
  if (Host* host = hosts_.change(*known)) host->instance.listing.note_error(seen);
}

void ListEvents::report_flaws(Set& set, const std::vector<Sighting>& all,
                              std::size_t false_requests, Now now) {
  if (set.shown.flaws_told && now.mono - *set.shown.flaws_told < kFlawsToldAgain) return;
  std::unordered_set<std::string_view> ids;
  ids.reserve(all.size());
  std::size_t twice = 0, others = 0;
  for (const auto& [seen, known, at] : all) {
    if (!ids.insert(seen->id).second) ++twice;
    if (!known && !seen->tags_unknown && seen->set_id != set.name) ++others;
  }
  if (twice + others + false_requests == 0) return;
  std::string text;
  const auto add = [&text](std::size_t count, const char* what) {
    if (count == 0) return;
    text += (text.empty() ? "it shows " : ", and ") + std::to_string(count) + what;
  };
  add(twice, " records of instances again");
  add(false_requests,
      " instances whose spot request (request_id) is another machine of the list, and no request");
  add(others, " instances that have not the tags of the set: the driver should filter by tags");
  set.shown.flaws_told = now.mono;
  recorder_.record("cloud", "set " + set.name, model::Event::kListFlawed, "", text, now);
}

/// Another machine of the same create. While the list does not show the recorded one, it says
/// nothing of the instance; when it shows both, Duplicates ends one.
bool ListEvents::is_twin(const model::InstanceRecord& record, const model::ListedInstance& seen) {
  using enum model::InstanceState;
  const bool has_its_machine = record.state == kBooting || record.state == kUnknown ||
                               record.state == kIdle || record.state == kBusy ||
                               record.state == kStopped;
  // Its own spot request may be all that is left: it waits for another machine.
  return has_its_machine && !record.provider_id.empty() && !is_recorded(record, seen) &&
         seen.id != record.request_id;
}

std::vector<Stranger> ListEvents::strangers(std::uint32_t index,
                                            const std::vector<LastList::Entry>& entries,
                                            const std::vector<Sighting>& all) const {
  const Set& set = sets_.at(index);
  std::unordered_map<model::InstanceId, std::string_view> machines;
  std::vector<Stranger> out;
  for (const auto& [seen, known, at] : all) {
    const bool is_second =
        known && machines.try_emplace(*known, seen->id).first->second != seen->id;
    if (known ? !is_second : !is_ours(set, *seen)) continue;
    if (auto stranger = adoptions_.stranger(index, entries[at].seen))
      out.push_back(*std::move(stranger));
  }
  return out;
}

/// It has the tags of the set, and no damaged row.
bool ListEvents::is_tagged(const Set& set, const model::ListedInstance& seen) const {
  return !seen.tags_unknown && seen.set_id == set.name && !set_aside_.contains(set.name, seen);
}

bool ListEvents::is_ours(const Set& set, const model::ListedInstance& seen) const {
  if (!is_tagged(set, seen)) return false;
  return seen.owner == recorder_.owner() ||
         std::ranges::find(take_over_sets_, set.name) != take_over_sets_.end();
}

std::optional<model::InstanceId> ListEvents::take(Set& set, const Sighting& sighting, Now now) {
  ListInHand& list = *set.in_hand;
  const Mono as_of = list.as_of;
  const model::ListedInstance& seen = *sighting.seen;
  if (const auto known = sighting.known) {
    Host* host = hosts_.change(*known);
    if (host != nullptr && is_twin(host->instance.record, seen)) return std::nullopt;
    if (host != nullptr && host->instance.record.set == set.name) {
      const auto& pool = policy_.pools[host->instance.pool];
      // A list may overtake a start or stop that waits for its commit: it tells nothing of these.
      const Mono power_as_of = host->calls.switches() ? Mono::min() : as_of;
      auto outcome =
          fleet::listed(host->instance, seen, power_as_of, pool, now, set.info.list_consistency);
      const bool is_news = outcome.changed || outcome.event || !outcome.effects.empty();
      steps_.apply(*host, std::move(outcome), "cloud", now);
      if (Host* still = hosts_.change(*known)) {
        const bool is_noticed = interruptions_.listed(*still, seen, now);
        const bool has_right_tags = tags_.check(*still, seen, as_of, now);
        if (!is_news && !is_noticed && has_right_tags && is_at_work(*still, seen))
          still->settled = std::make_shared<Settled>();
      }
    }
    return known;
  }
  if (!is_tagged(set, seen) || is_ours(set, seen)) return std::nullopt;
  if (list.foreign.empty())
    list.foreign = "instance " + printable(seen.id, 80) +
                   " of this set belongs to another hostler (owner " + printable(seen.owner, 80) +
                   "): nothing is created until hostlerd --take-over-set " + set.name;
  return std::nullopt;
}

}  // namespace hostler::dispatch
