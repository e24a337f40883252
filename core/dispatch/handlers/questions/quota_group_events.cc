#include "core/dispatch/handlers/questions/quota_group_events.h"

#include <algorithm>
#include <chrono>

#include "core/base/text.h"

namespace hostler::dispatch {
namespace {

/// A driver that was too busy to name a quota group is asked again after this.
constexpr Duration kGroupPause = std::chrono::minutes(1);

bool is_group_name(const std::string& name) {
  return name.size() <= model::kQuotaGroupBytesMax && printable(name) == name;
}

/// The driver may answer another time.
bool may_pass(const model::CloudError& error) {
  return error.cls == model::CloudErrorClass::kTransient ||
         error.cls == model::CloudErrorClass::kTimeout ||
         error.cls == model::CloudErrorClass::kCancelled ||
         error.cls == model::CloudErrorClass::kRateLimit;
}

}  // namespace

void QuotaGroupEvents::send_due(std::uint32_t index, Now now) {
  Set& set = sets_.at(index);
  QuotaGroups& groups = set.quota_groups;
  if (!set.is_open() || groups.next() > now.mono) return;
  const gates::GateQuery query{.set = set.name, .op = model::CloudOp::kQuotaGroup};
  if (const auto* gate = gates_.held_by_crashes(query, now.mono))
    return groups.hold_back(std::max(gate->until, now.mono + kGroupPause));
  groups.begin();
  groups.keep([&](const model::InstanceType& known) {
    const auto type = menu_.type_index(known.name);
    return type && model::is_same_kind(known, policy_.types[*type]);
  });
  for (const std::uint32_t t : menu_.types_of(index)) {
    const auto& type = policy_.types[t];
    if (!type.quota_group.empty() || groups.knows(type.name)) continue;
    if (gates_.held_by_crashes(query, now.mono) != nullptr)  // one call probes
      return groups.hold_back(now.mono + kGroupPause);
    groups.asked(type);
    gates_.began(query, now.mono);
    recorder_.effect(QuotaGroupCall{set.name, type, policy_.sets[index].list_timeout});
  }
}

void QuotaGroupEvents::on(const QuotaGroupFetched& event, Now now) {
  const auto index = sets_.index_of(event.set);
  if (!index) return;
  QuotaGroups& groups = sets_.at(*index).quota_groups;
  gates_.ended({.set = event.set, .op = model::CloudOp::kQuotaGroup},
               event.result ? nullptr : &event.result.error(), now);
  if (!groups.wants(event.type)) return;
  if (event.result) {
    // plugin_host lets no other pass. A name that were cut could be that of two groups.
    if (is_group_name(*event.result)) groups.set(event.type, *event.result);
  } else if (event.result.error().cls == model::CloudErrorClass::kUnsupported) {
    groups.unsupported();
  } else if (may_pass(event.result.error())) {
    groups.ask_again(event.type, now.mono + kGroupPause);
  }
}

}  // namespace hostler::dispatch
