#include "core/dispatch/handlers/questions/leftover_sweeps.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "core/base/text.h"

namespace hostler::dispatch {
namespace {

using model::CloudOp;
using model::LeftoverRule;

constexpr std::size_t kThingsMax = 10'000;  ///< Of one list: one with more is not believed.
constexpr std::size_t kNamesTold = 5;
constexpr Duration kListPause = std::chrono::minutes(1);  ///< After the first list that failed.

/// Another one may have the id of one that is gone.
bool is_same(const Thing& before, const Thing& now) {
  return before.instance_id == now.instance_id && before.key == now.key &&
         (before.created.us == 0 || before.created == now.created);
}

}  // namespace

void LeftoverSweeps::policy_changed(Now now) {
  for (std::uint32_t i = 0; i < sets_.size(); ++i) {
    const auto& set = policy_.sets[i];
    std::vector<std::string> whole_set;
    if (set.leftovers != LeftoverRule::kOff) whole_set.emplace_back();
    questions_.keep(i, CloudOp::kLeftovers, whole_set, {set.leftovers_interval, kListPause}, now);
    SetLeftovers& own = leftovers_.of(i);
    own.look_at = now.mono;
    if (set.leftovers != LeftoverRule::kOff) continue;
    own.things.clear();
    own.error.clear();
  }
}

void LeftoverSweeps::send_due(std::uint32_t index, Now now) {
  const std::string& set = sets_.at(index).name;
  for (const auto& call : questions_.due(index, CloudOp::kLeftovers, now).calls)
    recorder_.effect(
        LeftoversCall{set,
                      call.number,
                      {{model::tag::kSet, set}, {model::tag::kOwner, recorder_.owner()}},
                      policy_.sets[index].list_timeout});
}

void LeftoverSweeps::on(const LeftoversListed& event, Now now) {
  const auto index = sets_.index_of(event.set);
  if (!index) return;
  const Questions::Name question{*index, CloudOp::kLeftovers};
  const auto* error = event.result ? nullptr : &event.result.error();
  const auto sent = questions_.take(question, event.number, error, now);
  if (!sent) return;
  if (error != nullptr) return list_failed(question, error->message, error->cls, now);
  if (event.result->size() > kThingsMax)
    return list_failed(question,
                       "the cloud lists " + std::to_string(event.result->size()) +
                           " things: a list of more than " + std::to_string(kThingsMax) +
                           " is not believed",
                       model::CloudErrorClass::kMisbehaving, now);
  questions_.good(question, now);
  take(*index, *event.result, *sent, now);
}

void LeftoverSweeps::list_failed(const Questions::Name& question, const std::string& why,
                                 model::CloudErrorClass cls, Now now) {
  leftovers_.of(question.set).error = why;
  if (questions_.bad(question, cls, now))
    recorder_.record("cloud", "set " + sets_.at(question.set).name,
                     model::Event::kLeftoversUnlisted, model::to_string(cls), why, now);
}

void LeftoverSweeps::take(std::uint32_t index, const std::vector<model::Leftover>& list, Mono sent,
                          Now now) {
  const Set& set = sets_.at(index);
  SetLeftovers& own = leftovers_.of(index);
  own.error.clear();
  own.answered = now.mono;
  own.listed = now.wall;
  auto fresh = things_of(list, recorder_.owner(), recorder_.epoch(), set.name,
                         known_instances(set.name, hosts_, set_aside_), now);
  std::vector<ThingName> confirmed;
  const Duration apart = std::max(policy_.sets[index].leftovers_after, set.info.list_consistency);
  for (auto& [name, thing] : fresh) {
    const auto before = own.things.find(name);
    if (before == own.things.end() || !is_same(before->second, thing)) continue;
    const Wall created = thing.created;
    thing = std::move(before->second);
    thing.created = created;
    if (thing.confirmed || sent - thing.first < apart) continue;
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
    names += (i == 0 ? "" : ", ") + to_string(fresh[i]);
  if (fresh.size() > kNamesTold)
    names += " and " + std::to_string(fresh.size() - kNamesTold) + " more";
  recorder_.record("cloud", "set " + sets_.at(index).name, model::Event::kLeftoversFound, "", names,
                   now);
}

void LeftoverSweeps::on(const SetListed& event, Now now) {
  const auto index = sets_.index_of(event.set);
  if (!index || !event.result) return;
  const Set& set = sets_.at(*index);
  if (!set.takes_answer(event.sent) || !set.is_list_believed()) return;
  SetLeftovers& own = leftovers_.of(*index);
  own.instances_listed = event.sent;
  own.look_at = now.mono;
  if (own.things.empty()) return;
  KnownInstances listed;
  for (const auto& seen : *event.result) {
    if (seen->state == model::CloudState::kGone) continue;
    listed.ids.insert(seen->id);
    listed.ids.insert(seen->request_id);
    listed.keys.insert(seen->idempotency_key);
  }
  std::erase_if(own.things, [&](const auto& entry) {
    return listed.has(entry.second.instance_id, entry.second.key);
  });
}

void LeftoverSweeps::on(const SuccessorOpened& event) {
  const auto index = sets_.index_of(event.set);
  if (index && event.result) begin_anew(*index);
}

void LeftoverSweeps::on(const AcceptAccount& event) {
  if (const auto index = sets_.index_of(event.set)) begin_anew(*index);
}

void LeftoverSweeps::begin_anew(std::uint32_t set) {
  SetLeftovers& own = leftovers_.of(set);
  own.things.clear();
  own.error.clear();
  own.instances_listed.reset();
}

}  // namespace hostler::dispatch
