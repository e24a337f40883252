#pragma once

#include <cstdint>
#include <vector>

#include "core/base/time.h"
#include "core/demand/queue.h"
#include "core/model/amounts.h"
#include "core/model/cloud.h"

namespace hostler::demand {

/// A host counts with at least this price for each of its vcpus, so that use of hosts that cost
/// nothing is shared too.
inline constexpr model::Micros kLeastPricePerVcpu{1'000};
constexpr model::Micros least_price_of(model::Vcpus vcpus) {
  return {kLeastPricePerVcpu.value * vcpus.thousandths() / 1000};
}

/// What the part of a host that an attempt holds costs an hour: the largest share of any one
/// resource, or that of one of `jobs_max` jobs, of the host's price: see pricing::part_of(). At
/// least 1, at most 10^12.
[[nodiscard]] model::Micros price_of_part(model::Micros host_price_per_hour,
                                          const model::Resources& needs,
                                          const model::Resources& total, std::int32_t jobs_max);
/// The part of a host that an item of the shape holds: its needs, or the whole host if it is
/// exclusive. Valid as long as both arguments.
[[nodiscard]] inline const model::Resources& held_by(const model::WorkShape& shape,
                                                     const model::Resources& total) {
  return shape.exclusive ? total : shape.needs;
}

/// What each principal has used of the hosts lately: money, of which half is forgotten in each
/// half-life. Pure: time is an argument; it never goes back.
///
/// The order of principals does not change while time passes and nobody holds anything, because use
/// decays by the same factor for all. So keys() are kept in units that grow by that factor.
class Shares {
 public:
  /// What is held now counts as if it were held for so long: a start pushes its principal back at
  /// once, and slots that become free together are shared.
  static constexpr Duration kHorizon = std::chrono::hours(1);
  struct Held : model::Amounts {
    std::uint64_t attempts = 0;
  };

  void set_half_life(Duration half_life, Mono now);
  [[nodiscard]] Duration half_life() const { return half_life_; }
  /// Use of a time before `now`, in millionths, that has decayed since for `age`.
  void restore(PrincipalId principal, double use, Duration age, Mono now);
  /// An attempt begins or ends to hold a part of a host; its price as by price_of_part().
  void hold(PrincipalId principal, const model::Amounts& part, Mono now);
  void release(PrincipalId principal, const model::Amounts& part, Mono now);
  /// Brings the keys of all that hold something up to date. O(principals).
  void accrue(Mono now);

  /// The order of turns: the least goes first.
  [[nodiscard]] double key(PrincipalId principal) const;
  /// What each unit of the price of a part that is held adds to a key, as of the last change.
  [[nodiscard]] double turn_cost() const;
  /// True once after a change of the unit of all keys.
  [[nodiscard]] bool take_rescaled();

  /// Millionths; what is held now counts until now.
  [[nodiscard]] double use(PrincipalId principal, Mono now) const;
  [[nodiscard]] Held held(PrincipalId principal) const;
  [[nodiscard]] bool is_anything_held() const { return attempts_ > 0; }
  /// Principals whose use has changed since the last call, in order.
  [[nodiscard]] std::vector<PrincipalId> take_changed();

 private:
  struct One {
    double used = 0;  ///< Grown: see grown().
    Mono as_of;
    Held held;
    double key = 0;
    bool changed = false;
  };
  One& at(PrincipalId principal);
  [[nodiscard]] double half_lives(Mono now) const;  ///< Since `unit_at_`.
  /// By how much a unit of use has grown since `unit_at_`.
  [[nodiscard]] double grown(Mono now) const;
  void accrue(One& one, Mono now);
  void rescale_if_due(Mono now);

  Duration half_life_ = std::chrono::hours(24 * 7);
  Mono unit_at_;
  double unit_ = 1;  ///< grown() at the last change.
  std::vector<One> all_;
  std::uint64_t attempts_ = 0;
  bool rescaled_ = false;
};

}  // namespace hostler::demand
