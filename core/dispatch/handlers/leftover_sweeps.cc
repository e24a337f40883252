#include "core/dispatch/handlers/leftover_sweeps.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "core/base/text.h"
#include "core/fleet/step.h"

namespace hostler::dispatch {
namespace {

using namespace std::chrono_literals;
using model::LeftoverRule;

constexpr std::size_t kThingsMax = 10'000;  ///< Of one list: one with more is not believed.
constexpr std::size_t kDestroysAtOnce = 4;  ///< Destroys of one set.
constexpr std::size_t kNamesTold = 5;
constexpr Duration kYoungThing = 10min;
constexpr Duration kListPause = 1min;  ///< After the first list that failed.
constexpr Duration kRetry = 1min, kRetryMax = 6h;
/// A destroy was accepted: the cloud has this time to do it.
constexpr Duration kAccepted = 10min;
constexpr Duration kGateLookPause = 1s;

std::string text_of(const ThingName& name) {
  return printable(name.type, 60) + " " + printable(name.id, model::kForeignNameMax);
}

model::CloudError of_operation(model::CloudError error) {
  // An account that may not see or destroy such things may still create.
  if (error.cls != model::CloudErrorClass::kRateLimit) error.scope |= model::scope::kOperation;
  return error;
}

}  // namespace

void LeftoverSweeps::send_due(std::uint32_t index, Now now) {
  const auto rule = policy_.sets[index].leftovers;
  if (!sets_.at(index).open || rule == LeftoverRule::kOff) return;
  const SetLeftovers& own = leftovers_.of(index);
  if (!own.asked && own.supported && own.next <= now.mono) send_list(index, now);
  if (rule == LeftoverRule::kDestroy && own.look_at <= now.mono) send_destroys(index, now);
}

void LeftoverSweeps::send_list(std::uint32_t index, Now now) {
  const Set& set = sets_.at(index);
  SetLeftovers& own = leftovers_.of(index);
  const scheduler::GateQuery call{.set = set.name, .op = model::CloudOp::kLeftovers};
  if (const auto* gate = gates_.shut(call, now.mono)) {
    own.next = std::max(gate->until, now.mono + kGateLookPause);
    return;
  }
  gates_.sent(call, now.mono);
  own.asked = ++lists_;
  own.next = now.mono + policy_.sets[index].leftovers_interval;
  own.sent = now.mono;
  recorder_.effect(
      LeftoversCall{set.name,
                    lists_,
                    {{model::tag::kSet, set.name}, {model::tag::kOwner, recorder_.owner()}},
                    policy_.sets[index].list_timeout});
}

void LeftoverSweeps::on(const LeftoversListed& event, Now now) {
  const auto index = sets_.index_of(event.set);
  if (!index) return;
  const scheduler::GateQuery call{.set = event.set, .op = model::CloudOp::kLeftovers};
  if (event.result) {
    gates_.answered(call, nullptr, now);
  } else {
    const auto error = of_operation(event.result.error());
    gates_.answered(call, &error, now);
  }
  SetLeftovers& own = leftovers_.of(*index);
  if (own.asked != event.number) return;
  own.asked.reset();
  const bool is_off = policy_.sets[*index].leftovers == LeftoverRule::kOff;
  if (is_off || own.sent < sets_.at(*index).lists_from) return;  // Perhaps of another account.
  if (!event.result) {
    const auto& error = event.result.error();
    if (error.cls == model::CloudErrorClass::kUnsupported) own.supported = false;
    return list_failed(*index, error.message, error.cls, now);
  }
  if (event.result->size() > kThingsMax)
    return list_failed(*index,
                       "the cloud lists " + std::to_string(event.result->size()) +
                           " things: a list of more than " + std::to_string(kThingsMax) +
                           " is not believed",
                       model::CloudErrorClass::kMisbehaving, now);
  take(*index, *event.result, now);
}

void LeftoverSweeps::list_failed(std::uint32_t index, const std::string& why,
                                 model::CloudErrorClass cls, Now now) {
  SetLeftovers& own = leftovers_.of(index);
  ++own.failures;
  const bool is_news = own.error.empty();
  own.error = why;
  own.next = std::max(own.next, now.mono + fleet::backoff(own.failures, kListPause,
                                                          policy_.sets[index].leftovers_interval));
  // Not to have the extension is no fault.
  if (is_news && cls != model::CloudErrorClass::kUnsupported)
    recorder_.record("cloud", "set " + sets_.at(index).name, model::Event::kLeftoversUnlisted,
                     model::to_string(cls), why, now);
}

namespace {

/// Another one may have the id of one that is gone.
bool is_same(const Thing& before, const Thing& now) {
  return before.instance_id == now.instance_id && before.key == now.key &&
         (before.created.us == 0 || before.created == now.created);
}

}  // namespace

void LeftoverSweeps::take(std::uint32_t index, const std::vector<model::Leftover>& list, Now now) {
  const Set& set = sets_.at(index);
  SetLeftovers& own = leftovers_.of(index);
  own.failures = 0;
  own.error.clear();
  own.answered = now.mono;
  own.listed = now.wall;
  auto fresh = things_of(list, recorder_.owner(), recorder_.epoch(), set.name, known(index), now);
  std::vector<ThingName> confirmed;
  const Duration apart = std::max(policy_.sets[index].leftovers_after, set.info.list_consistency);
  for (auto& [name, thing] : fresh) {
    const auto before = own.things.find(name);
    if (before == own.things.end() || !is_same(before->second, thing)) continue;
    const Wall created = thing.created;
    thing = std::move(before->second);
    thing.created = created;
    if (thing.confirmed || own.sent - thing.first < apart) continue;
    thing.confirmed = true;
    confirmed.push_back(name);
  }
  own.things = std::move(fresh);
  own.look_at = now.mono;
  if (!confirmed.empty()) tell_confirmed(index, confirmed, now);
}

void LeftoverSweeps::tell_confirmed(std::uint32_t index, const std::vector<ThingName>& fresh,
                                    Now now) {
  std::string names;
  for (std::size_t i = 0; i < fresh.size() && i < kNamesTold; ++i)
    names += (i == 0 ? "" : ", ") + text_of(fresh[i]);
  if (fresh.size() > kNamesTold)
    names += " and " + std::to_string(fresh.size() - kNamesTold) + " more";
  recorder_.record("cloud", "set " + sets_.at(index).name, model::Event::kLeftoversFound, "", names,
                   now);
}

void LeftoverSweeps::on(const SetListed& event, Now now) {
  const auto index = sets_.index_of(event.set);
  if (!index || !event.result) return;
  const Set& set = sets_.at(*index);
  if (!set.open || event.sent < set.lists_from || !trusts_lists(*index)) return;
  SetLeftovers& own = leftovers_.of(*index);
  own.instances_listed = event.sent;
  own.look_at = now.mono;
  if (own.things.empty()) return;
  KnownInstances listed;
  for (const auto& seen : *event.result) {
    if (seen.state == model::CloudState::kGone) continue;
    listed.ids.insert(seen.id);
    listed.ids.insert(seen.request_id);
    listed.keys.insert(seen.idempotency_key);
  }
  std::erase_if(own.things, [&](const auto& entry) {
    return listed.has(entry.second.instance_id, entry.second.key);
  });
}

bool LeftoverSweeps::trusts_lists(std::uint32_t index) const {
  const Set& set = sets_.at(index);
  return !set.doubt && !set.foreign && !set.unlisted && !set.untouched && set.suspended.empty();
}

KnownInstances LeftoverSweeps::known(std::uint32_t index) const {
  KnownInstances out;
  const auto add = [&](const model::InstanceRecord& record) {
    out.keys.insert(record.idempotency_key);
    if (record.set != sets_.at(index).name) return;
    out.ids.insert(record.provider_id);
    out.ids.insert(record.request_id);
  };
  for (const auto& [id, host] : hosts_.all()) add(host.instance.record);
  for (const auto& record : set_aside_.instances()) add(record);
  return out;
}

bool LeftoverSweeps::may_destroy(std::uint32_t index, const Thing& thing, Now now) const {
  const SetLeftovers& own = leftovers_.of(index);
  const bool is_named = !thing.instance_id.empty() || !thing.key.empty();
  const bool is_young = thing.created.us > 0 && now.wall - thing.created < kYoungThing;
  return thing.confirmed && is_named && !is_young && !thing.destroying &&
         thing.next_try <= now.mono && own.instances_listed &&
         *own.instances_listed >= own.answered;
}

void LeftoverSweeps::send_destroys(std::uint32_t index, Now now) {
  SetLeftovers& own = leftovers_.of(index);
  own.look_at = fleet::kNever;
  // A row that cannot be read may be of any instance.
  if (!trusts_lists(index) || set_aside_.has_nameless_instance()) return;
  std::optional<KnownInstances> known_now;
  for (auto& [name, thing] : own.things) {
    if (thing.confirmed && !thing.destroying && thing.next_try > now.mono)
      own.look_at = std::min(own.look_at, thing.next_try);
    if (own.destroying >= kDestroysAtOnce || !may_destroy(index, thing, now)) continue;
    if (!known_now) known_now = known(index);
    if (known_now->has(thing.instance_id, thing.key)) continue;
    const scheduler::GateQuery call{.set = sets_.at(index).name,
                                    .op = model::CloudOp::kDestroyLeftover};
    if (const auto* gate = gates_.shut(call, now.mono)) {
      own.look_at = std::max(gate->until, now.mono + kGateLookPause);
      return;
    }
    gates_.sent(call, now.mono);
    destroy(index, name, thing, now);
  }
}

/// Intent first: the call leaves once the record is durable.
void LeftoverSweeps::destroy(std::uint32_t index, const ThingName& name, Thing& thing, Now now) {
  const std::string& set = sets_.at(index).name;
  thing.destroying = true;
  ++thing.tries;
  ++leftovers_.of(index).destroying;
  const std::string instance = thing.instance_id.empty()
                                   ? "the instance of key " + printable(thing.key, 80)
                                   : "instance " + printable(thing.instance_id, 255);
  recorder_.record("scheduler", "set " + set, model::Event::kLeftoverDestroying,
                   printable(name.id, model::kForeignNameMax),
                   text_of(name) + " of " + instance + ", which is gone", now);
  recorder_.effect(
      DestroyLeftoverCall{set, {name.type, name.id, set}, policy_.sets[index].destroy_timeout});
}

void LeftoverSweeps::on(const LeftoverDestroyed& event, Now now) {
  const auto index = sets_.index_of(event.set);
  if (!index) return;
  const scheduler::GateQuery call{.set = event.set, .op = model::CloudOp::kDestroyLeftover};
  const bool is_done = !event.error || event.error->cls == model::CloudErrorClass::kNotFound;
  if (is_done) {
    gates_.answered(call, nullptr, now);
  } else {
    const auto error = of_operation(*event.error);
    gates_.answered(call, &error, now);
  }
  SetLeftovers& own = leftovers_.of(*index);
  if (own.destroying > 0) --own.destroying;
  own.look_at = now.mono;
  const auto found = own.things.find({event.type, event.id});
  if (found == own.things.end() || !found->second.destroying) return;
  Thing& thing = found->second;
  thing.destroying = false;
  thing.error = is_done ? "" : event.error->message;
  thing.next_try = now.mono + fleet::backoff(thing.tries, is_done ? kAccepted : kRetry, kRetryMax);
  if (!is_done && thing.tries == 1)
    recorder_.record("cloud", "set " + event.set, model::Event::kLeftoverRefused,
                     model::to_string(event.error->cls),
                     text_of(found->first) + ": " + event.error->message, now);
}

void LeftoverSweeps::on(const SuccessorOpened& event, Now now) {
  const auto index = sets_.index_of(event.set);
  if (index && event.result) begin_anew(*index, now);
}

void LeftoverSweeps::on(const AcceptAccount& event, Now now) {
  if (const auto index = sets_.index_of(event.set)) begin_anew(*index, now);
}

/// Another project or account may have other things of the same ids.
void LeftoverSweeps::begin_anew(std::uint32_t set, Now now) {
  SetLeftovers& own = leftovers_.of(set);
  own.things.clear();
  own.asked.reset();  // Its answer is of no interest.
  own.instances_listed.reset();
  own.supported = true;
  own.next = now.mono;
}

void LeftoverSweeps::policy_changed(Now now) {
  for (std::uint32_t i = 0; i < sets_.size(); ++i) {
    SetLeftovers& own = leftovers_.of(i);
    if (policy_.sets[i].leftovers == LeftoverRule::kOff) {
      own.things.clear();
      own.error.clear();
      own.asked.reset();
      own.next = now.mono;
      continue;
    }
    own.next = std::min(own.next, now.mono + policy_.sets[i].leftovers_interval);
    own.look_at = now.mono;
  }
}

}  // namespace hostler::dispatch
