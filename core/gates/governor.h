#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "core/base/time.h"
#include "core/gates/headroom.h"
#include "core/model/policy.h"

/// The ceilings of each pool, each set and the site. The governor is independent of the planner: it
/// refuses every create and destroy that would pass a ceiling, whoever asked for it.
namespace hostler::gates {

/// Present usage. Every instance that may exist counts: fleet::Instance::may_exist().
struct Usage {
  std::int64_t instances = 0;
  model::Micros price_per_hour;
};

class Governor {
 public:
  explicit Governor(const model::SitePolicy& policy);

  /// Called when a create is journalled, when an instance is gone, and when a create is sent.
  void added(std::uint32_t set, std::uint32_t pool, model::Micros price);
  void removed(std::uint32_t set, std::uint32_t pool, model::Micros price);
  void create_sent(std::uint32_t set, std::uint32_t pool, Mono now);
  /// Keeps the rate's room for a create at a later time, as if it were sent then: whoever asks for
  /// one later waits for the next room.
  void reserve_create(std::uint32_t set, std::uint32_t pool, Mono at);
  /// Gives that room back. Nothing happens if it is a minute old.
  void release_create(std::uint32_t set, std::uint32_t pool, Mono at);
  /// Takes the creates of the last minute over, after a reload. Sets and pools are the same.
  void keep_creates_of(const Governor& before);

  /// Empty if one more may be created now, else the ceiling that forbids it, with its numbers.
  [[nodiscard]] std::string refuses_create(std::uint32_t set, std::uint32_t pool,
                                           model::Micros price, Mono now) const;
  /// Begins a decision: the count of destroys starts at 0.
  void begin_decision();
  [[nodiscard]] std::string refuses_destroy(std::uint32_t set, std::uint32_t pool) const;
  void destroy_decided(std::uint32_t set, std::uint32_t pool);

  [[nodiscard]] Headroom site(Mono now) const;
  [[nodiscard]] Headroom set(std::uint32_t index, Mono now) const;
  [[nodiscard]] Headroom pool(std::uint32_t index, Mono now) const;
  /// When the next create is allowed, if the rate of creates forbids one now.
  [[nodiscard]] std::optional<Mono> next_create(Mono now) const;

 private:
  struct Account {
    std::string name;
    model::Ceilings ceilings;
    Usage usage;
    std::deque<Mono> creates;  ///< Of the last minute, and reserved ones; sorted.
    std::int32_t destroys = 0;
  };
  template <class Self, class Do>
  static void each(Self& self, std::uint32_t set, std::uint32_t pool, Do act);
  static Headroom headroom(const Account& account, Mono now);

  Account site_;
  std::vector<Account> sets_, pools_;
};

}  // namespace hostler::gates
