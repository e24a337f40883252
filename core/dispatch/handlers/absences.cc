#include "core/dispatch/handlers/absences.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "core/dispatch/handlers/new_host.h"

namespace hostler::dispatch {

using model::InstanceState;

namespace {

constexpr std::size_t kIdsPerLookUp = 100;
constexpr std::size_t kOmitsManyMin = 3;
constexpr Duration kLookUpPause = std::chrono::seconds(1);
constexpr Duration kLookUpPauseMax = std::chrono::minutes(1);

/// A list should show it.
bool should_be_listed(const fleet::Instance& instance) {
  switch (instance.record.state) {
    case InstanceState::kRequested:
    case InstanceState::kBooting:
    case InstanceState::kUnknown:
    case InstanceState::kIdle:
    case InstanceState::kBusy:
    case InstanceState::kStopped:
      return !instance.record.provider_id.empty();
    case InstanceState::kTerminating:
    case InstanceState::kAbandoned:
    case InstanceState::kVanished:
    case InstanceState::kGone:
      break;
  }
  return false;
}

/// All, or half of them and at least three.
bool omits_many(std::size_t missing, std::size_t expected) {
  if (missing == 0) return false;
  return missing == expected || (missing >= kOmitsManyMin && 2 * missing >= expected);
}

bool is_answered(const fleet::Instance& instance) {
  const auto& absence = instance.listing.absence();
  return !absence || absence->is_answered();
}

}  // namespace

void Absences::after_list(std::uint32_t index, std::vector<model::InstanceId> seen, Mono sent,
                          Now now) {
  Set& set = sets_.at(index);
  std::vector<model::InstanceId> missing;
  std::ranges::sort(seen);
  auto next_shown = seen.begin();
  std::vector<model::InstanceId> absent;
  std::size_t expected = 0, omitted = 0;
  for (const auto& [id, host] : hosts_.all()) {
    if (host.instance.set != index) continue;
    while (next_shown != seen.end() && *next_shown < id) ++next_shown;
    const bool shown = next_shown != seen.end() && *next_shown == id;
    if (!shown && host.settled) (void)hosts_.change(id);  // It is not, any more.
    // The answer to a call under way may be newer than the list, and a half-open gate may wait for
    // it.
    if (!shown && host.calls.any()) continue;
    if (!shown) absent.push_back(id);
    const bool still_counts =
        host.instance.record.state == InstanceState::kVanished && host.instance.may_exist();
    if (!shown && still_counts) missing.push_back(id);
    if (!should_be_listed(host.instance)) continue;
    if (!shown && host.instance.listing.is_old(sent)) continue;
    ++expected;
    if (shown) continue;
    ++omitted;
    missing.push_back(id);
  }
  set.omissions.take(std::move(missing));
  // First: a list that is in doubt sends no create again.
  review(index, omitted, expected, now);
  const fleet::ListWithout list{.sent = sent,
                                .consistency = set.info.list_consistency,
                                .can_look_up = set.look_ups.supported};
  for (const auto id : absent)
    if (Host* host = hosts_.change(id))
      steps_.apply(*host, fleet::absent(host->instance, list, now), "cloud", now);
  count_answers(set, now);
}

void Absences::review(std::uint32_t index, std::size_t omitted, std::size_t expected, Now now) {
  Set& set = sets_.at(index);
  const bool doubtful = set.look_ups.supported && omits_many(omitted, expected);
  const auto& doubt = set.omissions.doubt();
  if (!doubtful && !doubt) return;
  const std::string numbers = "the list omits " + std::to_string(omitted) + " of " +
                              std::to_string(expected) + " instances";
  if (doubtful && !doubt) {
    // One or two instances that are gone are no news: their own events tell of them.
    set.omissions.begin_doubt(/*reported=*/omitted >= kOmitsManyMin, now);
    if (doubt->reported)
      recorder_.record("cloud", "set " + set.name, model::Event::kListDoubted, "", numbers, now);
    hosts_.touch_all();
    for (const auto id : set.omissions.instances())
      if (should_be_listed(hosts_.find(id)->instance)) set.look_ups.to_send.insert(id);
  } else if (!doubtful) {
    if (doubt->reported)
      recorder_.record("cloud", "set " + set.name, model::Event::kListTrusted, "", numbers, now);
    set.omissions.end_doubt();
    hosts_.touch_all();
    plan_.want();
  }
}

void Absences::count_answers(Set& set, Now now) {
  if (!set.omissions.doubt()) return;
  const auto& omitted = set.omissions.instances();
  const bool asking = std::ranges::any_of(omitted, [&](const model::InstanceId id) {
    const Host* host = hosts_.find(id);
    return host != nullptr && should_be_listed(host->instance) && !is_answered(host->instance);
  });
  if (!set.omissions.set_asking(asking, now.mono)) return;
  hosts_.touch_all();
  plan_.want();
}

void Absences::send_due(std::uint32_t index, Now now) {
  Set& set = sets_.at(index);
  if (!set.is_open()) return;
  if (set.omissions.patience_ends() <= now.mono) {
    set.omissions.set_overdue();
    hosts_.touch_all();
    plan_.want();
    recorder_.record(
        "cloud", "set " + set.name, model::Event::kListUnchecked, "",
        "the last list omits " + std::to_string(set.omissions.instances().size()) + " instances",
        now);
  }
  if (set.look_ups.next() > now.mono) return;
  const gates::GateQuery query{.set = set.name, .op = model::CloudOp::kList};
  if (const auto* gate = gates_.shut(query, now.mono)) {
    set.look_ups.not_before = std::max(gate->until, now.mono + kLookUpPause);
    return;
  }
  LookUpCall call{set.name, {}, {}, policy_.sets[index].list_timeout};
  while (!set.look_ups.to_send.empty() && call.instances.size() < kIdsPerLookUp) {
    const auto id = *set.look_ups.to_send.begin();
    set.look_ups.to_send.erase(set.look_ups.to_send.begin());
    const Host* host = hosts_.find(id);
    if (host == nullptr || host->instance.record.provider_id.empty()) continue;
    call.instances.push_back(id);
    call.request.ids.push_back(host->instance.record.provider_id);
  }
  if (call.instances.empty()) return;
  gates_.sent(query, now.mono);
  set.look_ups.under_way = true;
  recorder_.effect(std::move(call));
}

/// A record that is not gone goes before one that is. O(records): a driver may answer with more
/// than was asked for.
Absences::Answers Absences::by_id(const std::vector<model::ListedInstance>& all) {
  Answers out;
  const auto add = [&out](const std::string& id, const model::ListedInstance& one) {
    if (id.empty()) return;
    const auto [known, fresh] = out.try_emplace(id, &one);
    if (!fresh && known->second->state == model::CloudState::kGone) known->second = &one;
  };
  for (const auto& one : all) {
    add(one.id, one);
    add(one.request_id, one);
  }
  return out;
}

void Absences::on(const InstancesLookedUp& event, Now now) {
  const auto index = sets_.index_of(event.set);
  if (!index) return;
  Set& set = sets_.at(*index);
  set.look_ups.under_way = false;
  if (!set.takes_answer(event.sent)) {  // Perhaps the answer of another account.
    const model::CloudError* error = event.result ? nullptr : &event.result.error();
    set.look_ups.to_send.insert(event.asked.begin(), event.asked.end());
    return gates_.answered({.set = set.name, .op = model::CloudOp::kList}, error, now);
  }
  if (!event.result) return look_up_failed(set, event, now);
  gates_.answered({.set = set.name, .op = model::CloudOp::kList}, nullptr, now);
  set.look_ups.failures = 0;
  const Answers answers = by_id(*event.result);
  for (const auto id : event.asked)
    if (Host* host = hosts_.change(id); host != nullptr && !host->calls.any())
      judge(*host, answers, event.sent, now);
  count_answers(set, now);
}

void Absences::judge(Host& host, const Answers& answers, Mono sent, Now now) {
  auto& instance = host.instance;
  if (!instance.listing.absence() || instance.record.provider_id.empty()) return;
  const auto found = answers.find(instance.record.provider_id);
  const bool gone = found != answers.end() && found->second->state == model::CloudState::kGone;
  if (gone) instance.listing.note_error(*found->second);
  if (gone || found == answers.end() || !is_recorded(instance.record, *found->second))
    return steps_.apply(host, fleet::not_found(instance, sent, gone, now), "cloud", now);
  const model::ListedInstance& seen = *found->second;
  const std::uint32_t set = instance.set;
  const model::InstanceId id = host.id();
  steps_.apply(host, fleet::found(instance, seen, sent, policy_.pools[instance.pool], now), "cloud",
               now);
  // Without its set's tag no list shows it.
  const Duration consistency = sets_.at(set).info.list_consistency;
  if (Host* still = hosts_.change(id)) (void)tags_.check(*still, seen, sent - consistency, now);
}

void Absences::look_up_failed(Set& set, const InstancesLookedUp& event, Now now) {
  const auto& error = event.result.error();
  gates_.answered({.set = set.name, .op = model::CloudOp::kList}, &error, now);
  set.look_ups.not_before =
      now.mono + fleet::backoff(++set.look_ups.failures, kLookUpPause, kLookUpPauseMax);
  if (error.cls != model::CloudErrorClass::kUnsupported) {
    set.look_ups.to_send.insert(event.asked.begin(), event.asked.end());
    return;
  }
  set.look_ups.supported = false;
  set.look_ups.to_send.clear();
  set.omissions.end_doubt();
  hosts_.touch_all();
  recorder_.record("cloud", "set " + set.name, model::Event::kLookUpUnsupported,
                   model::to_string(error.cls), error.message, now);
}

void Absences::on(const BelieveList& event, Now now) {
  const auto index = sets_.index_of(event.set);
  if (!index)
    return recorder_.reply(event.ticket, fail(Errc::kNotFound, "no instance set " + event.set));
  Set& set = sets_.at(*index);
  if (set.omissions.list_number() != event.list)
    return recorder_.reply(
        event.ticket, fail(Errc::kConflict, "set " + event.set + " has a newer list, number " +
                                                std::to_string(set.omissions.list_number()) +
                                                ": look at the instances that it omits first"));
  const auto missing = set.omissions.instances();
  for (const auto id : missing)
    if (Host* host = hosts_.change(id))
      steps_.apply(*host, fleet::believed_absent(host->instance, event.actor, now), "user", now);
  count_answers(set, now);
  recorder_.reply(event.ticket, std::vector<model::WorkId>{});
}

}  // namespace hostler::dispatch
