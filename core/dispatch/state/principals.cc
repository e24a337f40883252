#include "core/dispatch/state/principals.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "core/base/assert.h"

namespace hostler::dispatch {
namespace {

/// How often the use of principals is brought up to date and journalled, while they hold something.
constexpr Duration kUseInterval = std::chrono::seconds(10);

demand::Allowance limits_of(const model::Quotas& quotas, const std::string& principal) {
  return demand::Allowance::of(quotas.of(principal));
}

}  // namespace

void Principals::restore(const model::PrincipalUse& use, Now now) {
  const auto id = intern(use.principal);
  // By a wall clock that may have jumped, and a row that may say anything.
  const Wall latest = std::max(now.wall, Wall{});
  const Duration age = latest - std::clamp(use.as_of, Wall{}, latest);
  shares_.restore(id, static_cast<double>(use.use.value), age, now.mono);
  use_changed(id, now.mono);
}

void Principals::set_half_life(Duration half_life, Mono now) {
  shares_.set_half_life(half_life, now);
  use_changed(0, now);
}

void Principals::set_quotas(const model::Quotas& quotas) {
  quotas_ = quotas;
  for (demand::PrincipalId p = 0; p < names_.size(); ++p) {
    limits_[p] = limits_of(quotas_, names_[p]);
    update_allowance(p);
  }
}

demand::PrincipalId Principals::intern(const std::string& name) {
  const auto [found, fresh] =
      ids_.try_emplace(name, static_cast<demand::PrincipalId>(names_.size()));
  if (fresh) {
    names_.push_back(name);
    limits_.push_back(limits_of(quotas_, name));
    update_allowance(found->second);
  }
  return found->second;
}

std::optional<demand::PrincipalId> Principals::find(const std::string& name) const {
  const auto found = ids_.find(name);
  return found == ids_.end() ? std::nullopt : std::optional(found->second);
}

void Principals::update_allowance(demand::PrincipalId principal) {
  demand::Allowance left = limits_[principal];
  left.take(shares_.held(principal), 1);
  waiting_.set_allowance(principal, left);
}

void Principals::hold(demand::PrincipalId principal, demand::ClassId cls,
                      const model::Amounts& part, Mono now) {
  HOSTLER_ASSERT(principal < names_.size(), "who holds a part of a host has a name");
  shares_.hold(principal, part, now);
  waiting_.set_price(cls, part.price_per_hour);
  update_allowance(principal);
  use_changed(principal, now);
}

bool Principals::release(demand::PrincipalId principal, const model::Amounts& part, Mono now) {
  shares_.release(principal, part, now);
  update_allowance(principal);
  use_changed(principal, now);
  return limits_[principal].is_limited() && waiting_.queue().count(principal) > 0;
}

demand::Shares::Held Principals::held_by(const std::string& name) const {
  const auto id = find(name);
  return id ? shares_.held(*id) : demand::Shares::Held{};
}

void Principals::use_changed(demand::PrincipalId principal, Mono now) {
  if (use_tick_ == fleet::kNever) use_tick_ = now + kUseInterval;
  if (!shares_.take_rescaled()) return waiting_.set_key(principal, shares_.key(principal));
  for (demand::PrincipalId p = 0; p < names_.size(); ++p) waiting_.set_key(p, shares_.key(p));
}

std::vector<model::PrincipalUse> Principals::use_changes(Now now) {
  shares_.accrue(now.mono);
  std::vector<model::PrincipalUse> out;
  for (const auto id : shares_.take_changed()) {
    use_changed(id, now.mono);
    const double use = std::min(std::round(shares_.use(id, now.mono)), 9e18);
    out.push_back({names_[id], {static_cast<std::int64_t>(use)}, now.wall});
  }
  use_tick_ = shares_.is_anything_held() ? now.mono + kUseInterval : fleet::kNever;
  return out;
}

}  // namespace hostler::dispatch
