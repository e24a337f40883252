#include "core/dispatch/state/questions/quota_groups.h"

#include <algorithm>

#include "core/base/assert.h"

namespace hostler::dispatch {

const std::string& QuotaGroups::of(const model::InstanceType& type) const {
  static const std::string kNone;
  const auto found = by_type_.find(type.name);
  return found != by_type_.end() && model::is_same_kind(found->second.asked_about, type)
             ? found->second.group
             : kNone;
}

void QuotaGroups::driver_replaced() {
  supported_ = true;
  by_type_.clear();
}

void QuotaGroups::types_changed(Mono now) {
  if (supported_) at_ = now;
}

void QuotaGroups::retry(Mono now) {
  if (at_ != fleet::kNever) at_ = now;
}

void QuotaGroups::asked(const model::InstanceType& type) {
  const bool fresh = by_type_.try_emplace(type.name, Asked{type, ""}).second;
  HOSTLER_ASSERT(fresh, "a type is asked about once");
}

bool QuotaGroups::wants(const model::InstanceType& type) const {
  const auto found = by_type_.find(type.name);
  return found != by_type_.end() && model::is_same_kind(found->second.asked_about, type);
}

void QuotaGroups::set(const model::InstanceType& type, const std::string& group) {
  HOSTLER_ASSERT(wants(type), "only a type that was asked about has an answer");
  by_type_.find(type.name)->second.group = group;
}

void QuotaGroups::ask_again(const model::InstanceType& type, Mono at) {
  HOSTLER_ASSERT(wants(type), "only a type that was asked about is asked about again");
  by_type_.erase(type.name);
  at_ = std::min(at_, at);
}

}  // namespace hostler::dispatch
