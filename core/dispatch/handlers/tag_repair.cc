#include "core/dispatch/handlers/tag_repair.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "core/fleet/step.h"

namespace hostler::dispatch {
namespace {

constexpr std::uint32_t kRepairsPerList = 10;  ///< An account may have lost all its tags.
/// The tags of a new instance may be listed so much later.
constexpr Duration kYoung = std::chrono::seconds(10);
constexpr Duration kPauseAfterSuccess = std::chrono::seconds(10);
constexpr Duration kFirstRepairPause = std::chrono::minutes(5);
constexpr Duration kLongestRepairPause = std::chrono::hours(6);

bool keeps_tags(model::InstanceState state) {
  using enum model::InstanceState;
  return state == kBooting || state == kUnknown || state == kIdle || state == kBusy ||
         state == kStopped;
}

}  // namespace

void TagRepair::begin(Set& set) const { set.shown.tag_repairs_left = kRepairsPerList; }

model::Tags TagRepair::wrong_tags(const Host& host, const model::ListedInstance& seen) const {
  const auto& record = host.instance.record;
  model::Tags out;
  const auto compare = [&out](const char* name, const std::string& ours,
                              const std::string& theirs) {
    if (!ours.empty() && ours != theirs) out[name] = ours;
  };
  // Another owner or set: somebody has taken the instance over, and would write its tags again.
  if (!seen.owner.empty() && seen.owner != recorder_.owner()) return out;
  if (!seen.set_id.empty() && seen.set_id != record.set) return out;
  compare(model::tag::kOwner, recorder_.owner(), seen.owner);
  compare(model::tag::kSet, record.set, seen.set_id);
  compare(model::tag::kKey, record.idempotency_key, seen.idempotency_key);
  compare(model::tag::kPool, record.pool, seen.pool);
  compare(model::tag::kType, record.type, seen.type);
  compare(model::tag::kIdle, model::to_string(record.idle_behavior), seen.idle);
  return out;
}

bool TagRepair::check(Host& host, const model::ListedInstance& seen, Mono as_of, Now now) {
  auto& tags = host.tags;
  const auto& record = host.instance.record;
  Set& set = sets_.at(host.instance.set);
  if (seen.tags_unknown || !keeps_tags(record.state) || host.calls.any()) return false;
  if (tags.under_way > 0 || as_of <= tags.ended_at ||
      as_of < host.instance.creating.decided_at() + kYoung)
    return false;
  model::SetTagsRequest request{.id = record.provider_id, .set = wrong_tags(host, seen)};
  if (request.set.empty()) {
    tags.repairs = 0;
    tags.not_before = std::min(tags.not_before, tags.ended_at + kPauseAfterSuccess);
    return true;
  }
  if (now.mono < tags.not_before || set.shown.tag_repairs_left == 0) return false;
  const auto query = CallGates::tags_query(host);
  if (gates_.shut(query, now.mono) != nullptr) return false;
  gates_.sent(query, now.mono);
  --set.shown.tag_repairs_left;
  ++tags.under_way;
  tags.not_before =
      now.mono + fleet::backoff(++tags.repairs, kFirstRepairPause, kLongestRepairPause);
  for (const auto& [name, value] : request.set)
    tags.repairing += (tags.repairing.empty() ? "" : ", ") + name;
  recorder_.effect(TagsCall{record.set, record.id, std::move(request),
                            policy_.sets[host.instance.set].list_timeout});
  return false;
}

void TagRepair::ended(Host& host, const model::CloudError* error, Now now) {
  auto& tags = host.tags;
  if (tags.under_way == 0) return;
  --tags.under_way;
  tags.ended_at = now.mono;
  gates_.side_call_answered(CallGates::tags_query(host), error, now);
  const std::string repaired = std::exchange(tags.repairing, {});
  if (error != nullptr) {
    if (error->cls == model::CloudErrorClass::kUnsupported) tags.not_before = fleet::kNever;
    recorder_.record("cloud", host.id().text(), model::Event::kTagsFailed,
                     model::to_string(error->cls), error->message, now);
  } else if (!repaired.empty() && !std::exchange(tags.reported, true)) {
    recorder_.record("cloud", host.id().text(), model::Event::kTagsRepaired, "",
                     "the cloud listed it with wrong or missing tags (" + repaired +
                         "), which are written again",
                     now);
  }
}

}  // namespace hostler::dispatch
