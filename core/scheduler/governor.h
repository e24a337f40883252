#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "core/base/time.h"
#include "core/model/policy.h"
#include "core/scheduler/snapshot.h"

/// Ceilings that no policy can pass, for each pool, set and site; stands apart from the planner and
/// refuses whatever would pass one, whoever asked.
namespace hostler::scheduler {

/// What is there now, from the journal: all that may exist counts (fleet::Instance::may_exist()).
struct Usage {
  std::int64_t instances = 0;
  model::Micros price_per_hour;
};

class Governor {
 public:
  explicit Governor(const model::SitePolicy& policy);

  /// Usage is kept by these three, called as intents are journalled and instances end.
  void added(std::uint32_t set, std::uint32_t pool, model::Micros price);
  void removed(std::uint32_t set, std::uint32_t pool, model::Micros price);
  void create_sent(std::uint32_t set, std::uint32_t pool, Mono now);
  /// The creates of the last minute, of the governor before a reload: same sets and pools.
  void keep_creates_of(const Governor& before);

  /// Empty if one more may be created now, else which ceiling says no and its figures.
  [[nodiscard]] std::string refuses_create(std::uint32_t set, std::uint32_t pool,
                                           model::Micros price, Mono now) const;
  /// Begins a decision: destroys are counted anew.
  void begin_decision();
  [[nodiscard]] std::string refuses_destroy(std::uint32_t set, std::uint32_t pool) const;
  void destroy_decided(std::uint32_t set, std::uint32_t pool);

  [[nodiscard]] Headroom site(Mono now) const;
  [[nodiscard]] Headroom set(std::uint32_t index, Mono now) const;
  [[nodiscard]] Headroom pool(std::uint32_t index, Mono now) const;
  /// When a create that is refused for its rate may pass; for the loop's timer.
  [[nodiscard]] std::optional<Mono> next_create(Mono now) const;

 private:
  struct Account {
    std::string name;
    model::Ceilings ceilings;
    Usage usage;
    std::deque<Mono> creates;  ///< Of the last minute.
    std::int32_t destroys = 0;
  };
  template <class Self, class Do>
  static void each(Self& self, std::uint32_t set, std::uint32_t pool, Do act);
  static Headroom headroom(const Account& account, Mono now);

  Account site_;
  std::vector<Account> sets_, pools_;
};

}  // namespace hostler::scheduler
