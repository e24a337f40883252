#include "core/dispatch/handlers/questions/leftover_destroys.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>

#include "core/base/text.h"
#include "core/fleet/step.h"

namespace hostler::dispatch {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kDestroysAtOnce = 4;  ///< Of one set.
constexpr Duration kYoungThing = 10min;
constexpr Duration kRetry = 1min, kRetryMax = 6h;
/// A destroy was accepted: the cloud has this time to do it.
constexpr Duration kAccepted = 10min;
constexpr Duration kGateLookPause = 1s;

}  // namespace

void LeftoverDestroys::send_due(std::uint32_t index, Now now) {
  const Set& set = sets_.at(index);
  SetLeftovers& own = leftovers_.of(index);
  const bool is_wanted = policy_.sets[index].leftovers == model::LeftoverRule::kDestroy;
  if (!set.is_open() || !is_wanted || own.look_at > now.mono) return;
  own.look_at = fleet::kNever;
  // A row that cannot be read may be of any instance.
  if (!set.shows_what_exists() || set_aside_.has_nameless_instance()) return;
  std::optional<KnownInstances> known_now;
  for (auto& [name, thing] : own.things) {
    if (thing.confirmed && !thing.destroying && thing.next_try > now.mono)
      own.look_at = std::min(own.look_at, thing.next_try);
    if (own.destroying >= kDestroysAtOnce || !may_destroy(index, thing, now)) continue;
    if (!known_now) known_now = known_instances(set.name, hosts_, set_aside_);
    if (known_now->has(thing.instance_id, thing.key)) continue;
    const gates::GateQuery call{.set = set.name, .op = model::CloudOp::kDestroyLeftover};
    if (const auto* gate = gates_.shut(call, now.mono)) {
      own.look_at = std::max(gate->until, now.mono + kGateLookPause);
      return;
    }
    gates_.sent(call, now.mono);
    destroy(index, name, thing, now);
  }
}

bool LeftoverDestroys::may_destroy(std::uint32_t index, const Thing& thing, Now now) const {
  const SetLeftovers& own = leftovers_.of(index);
  const bool is_named = !thing.instance_id.empty() || !thing.key.empty();
  const bool is_young = thing.created.us > 0 && now.wall - thing.created < kYoungThing;
  return thing.confirmed && is_named && !is_young && !thing.destroying &&
         thing.next_try <= now.mono && own.instances_listed &&
         *own.instances_listed >= own.answered;
}

/// Intent first: the call leaves once the record is durable.
void LeftoverDestroys::destroy(std::uint32_t index, const ThingName& name, Thing& thing, Now now) {
  const std::string& set = sets_.at(index).name;
  thing.destroying = true;
  ++thing.tries;
  ++leftovers_.of(index).destroying;
  const std::string instance = thing.instance_id.empty()
                                   ? "the instance of key " + printable(thing.key, 80)
                                   : "instance " + printable(thing.instance_id, 255);
  recorder_.record("scheduler", "set " + set, model::Event::kLeftoverDestroying,
                   printable(name.id, model::kForeignNameMax),
                   to_string(name) + " of " + instance + ", which is gone", now);
  recorder_.effect(
      DestroyLeftoverCall{set, {name.type, name.id, set}, policy_.sets[index].destroy_timeout});
}

void LeftoverDestroys::on(const LeftoverDestroyed& event, Now now) {
  const auto index = sets_.index_of(event.set);
  if (!index) return;
  const gates::GateQuery call{.set = event.set, .op = model::CloudOp::kDestroyLeftover};
  const bool is_done = !event.error || event.error->cls == model::CloudErrorClass::kNotFound;
  gates_.side_call_answered(call, is_done ? nullptr : &*event.error, now);
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
                     to_string(found->first) + ": " + event.error->message, now);
}

}  // namespace hostler::dispatch
