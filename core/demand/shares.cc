#include "core/demand/shares.h"

#include <algorithm>
#include <cmath>
#include <ratio>
#include <utility>

#include "core/base/assert.h"
#include "core/base/saturating.h"
#include "core/pricing/bill.h"

namespace hostler::demand {
namespace {

constexpr std::int64_t kPriceMax = 1'000'000'000'000;
/// Keys are doubles: they never grow by more than 2 to this power.
constexpr double kHalfLivesMax = 64;

double in_hours(Duration d) { return std::chrono::duration<double, std::ratio<3600>>(d).count(); }

}  // namespace

model::Micros price_of_part(model::Micros host_price_per_hour, const model::Resources& needs,
                            const model::Resources& total, std::int32_t jobs_max) {
  const std::int64_t least = least_price_of(std::max<model::Vcpus>(1, total.vcpus)).value;
  const std::int64_t price = std::clamp(host_price_per_hour.value, least, kPriceMax);
  return {std::max<std::int64_t>(1, pricing::part_of({price}, needs, total, jobs_max).value)};
}

Shares::One& Shares::at(PrincipalId principal) {
  if (principal >= all_.size()) all_.resize(principal + 1);
  return all_[principal];
}

double Shares::half_lives(Mono now) const {
  const Duration age = std::max(now - unit_at_, Duration::zero());
  return static_cast<double>(age.count()) / static_cast<double>(half_life_.count());
}

double Shares::grown(Mono now) const { return std::exp2(half_lives(now)); }

void Shares::rescale_if_due(Mono now) {
  if (now - unit_at_ <= half_life_) return;  // The usual case, without a division.
  const auto half_lives = static_cast<double>((now - unit_at_) / half_life_);
  if (half_lives < kHalfLivesMax) return;
  // By a power of two, so that no digit is lost; what becomes 0 was forgotten long ago.
  const double by = std::exp2(-std::min(half_lives, 1000.0));
  for (One& one : all_) {
    one.used *= by;
    one.key *= by;
  }
  unit_at_ += half_life_ * ((now - unit_at_) / half_life_);
  rescaled_ = true;
}

void Shares::set_half_life(Duration half_life, Mono now) {
  if (half_life == half_life_) return;
  rescale_if_due(now);
  for (One& one : all_) accrue(one, now);
  const double by = 1 / grown(now);
  for (One& one : all_) {
    one.used *= by;
    one.key *= by;
  }
  half_life_ = half_life;
  unit_at_ = now;
  unit_ = 1;
  rescaled_ = true;
}

void Shares::accrue(One& one, Mono now) {
  const double unit = unit_ = grown(now);
  if (one.held.attempts > 0 && now > one.as_of) {
    one.used +=
        static_cast<double>(one.held.price_per_hour.value) * in_hours(now - one.as_of) * unit;
    one.changed = true;
  }
  one.as_of = std::max(one.as_of, now);
  one.key =
      one.used + static_cast<double>(one.held.price_per_hour.value) * in_hours(kHorizon) * unit;
}

void Shares::restore(PrincipalId principal, double use, Duration age, Mono now) {
  rescale_if_due(now);
  const double half_lives = static_cast<double>(std::max(age, Duration::zero()).count()) /
                            static_cast<double>(half_life_.count());
  One& one = at(principal);
  one.used += std::max(use, 0.0) * std::exp2(-half_lives) * grown(now);
  accrue(one, now);
}

void Shares::hold(PrincipalId principal, const model::Amounts& part, Mono now) {
  rescale_if_due(now);
  One& one = at(principal);
  accrue(one, now);
  auto& held = one.held;
  held.price_per_hour = {add_saturating(held.price_per_hour.value, part.price_per_hour.value)};
  held.vcpus += part.vcpus;
  held.gpus += part.gpus;
  ++held.attempts;
  ++attempts_;
  accrue(one, now);
}

void Shares::release(PrincipalId principal, const model::Amounts& part, Mono now) {
  rescale_if_due(now);
  One& one = at(principal);
  HOSTLER_ASSERT(one.held.attempts > 0, "only what is held is released");
  accrue(one, now);
  auto& held = one.held;
  held.price_per_hour.value -= std::min(held.price_per_hour.value, part.price_per_hour.value);
  held.vcpus -= part.vcpus;
  held.gpus -= part.gpus;
  --held.attempts;
  --attempts_;
  if (held.attempts == 0) held = {};
  accrue(one, now);
}

void Shares::accrue(Mono now) {
  rescale_if_due(now);
  for (One& one : all_)
    if (one.held.attempts > 0) accrue(one, now);
}

double Shares::key(PrincipalId principal) const {
  return principal < all_.size() ? all_[principal].key : 0;
}

double Shares::turn_cost() const { return in_hours(kHorizon) * unit_; }

bool Shares::take_rescaled() { return std::exchange(rescaled_, false); }

double Shares::use(PrincipalId principal, Mono now) const {
  if (principal >= all_.size()) return 0;
  const One& one = all_[principal];
  const Duration since = std::max(now - one.as_of, Duration::zero());
  return one.used * std::exp2(-half_lives(now)) +
         static_cast<double>(one.held.price_per_hour.value) * in_hours(since);
}

Shares::Held Shares::held(PrincipalId principal) const {
  return principal < all_.size() ? all_[principal].held : Held{};
}

std::vector<PrincipalId> Shares::take_changed() {
  std::vector<PrincipalId> out;
  for (PrincipalId p = 0; p < all_.size(); ++p)
    if (std::exchange(all_[p].changed, false)) out.push_back(p);
  return out;
}

}  // namespace hostler::demand
