#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "core/dispatch/dispatcher.h"
#include "tests/sim/honest_pusher.h"
#include "tests/sim/lying_pusher.h"
#include "tests/sim/push_rules.h"

namespace hostler::sim {

/// Two pools that outside schedulers size, beside the pool of jobs: one scheduler keeps its promise
/// (docs/pushed.md), the other lies. Its choices are apart from all others.
///
/// Checks what push_rules.h says of each pool, that only those who may push are heard, that no work
/// is placed on such hosts, and that all tasks of the honest scheduler are run.
class PushDays {
 public:
  using Clock = std::function<Now()>;
  using Complain = Disk::Complain;

  PushDays(std::uint64_t seed, Timeline& time, Clock clock, Cloud& cloud, const Disk& disk,
           PushWire::Post post, Complain complain);
  static bool is_of(std::uint64_t seed) { return seed % 7 == 6; }

  /// Adds the types and the pools; before begin().
  void set_policy(model::SitePolicy& policy);
  /// `reload`: the maximum of the honest scheduler's pool has changed in the policy.
  void begin(Duration trouble, model::SitePolicy& policy, std::function<void()> reload);
  void end_faults();
  /// The pools keep nothing without need.
  void close_down(model::SitePolicy& policy);
  /// Nothing waits or runs.
  [[nodiscard]] bool is_done() const { return honest_ && honest_->is_done(); }

  void daemon_started();
  /// Before anybody spoils the plan.
  void planned(const scheduler::Snapshot& snapshot, const scheduler::Plan& plan,
               const model::SitePolicy& policy) const;
  /// What the daemon has decided, before it is durable.
  void check(const dispatch::Outbox& outbox);
  /// The answer leaves.
  void answer(const dispatch::PushReply& reply);

 private:
  void make_pool(model::SitePolicy& policy, const std::string& name, bool has_small, bool has_large,
                 std::int32_t max);
  void resize(model::SitePolicy& policy, std::int32_t max, const std::function<void()>& reload);
  void look_at_boots();
  void judge(const dispatch::PushReply& reply);
  void check_start(const model::WorkRecord& row) const;
  [[nodiscard]] std::optional<bool> is_taken(const PushWire::Sent& sent);
  [[nodiscard]] PushRules* rules_of(const std::string& pool);
  [[nodiscard]] Duration between(Duration from, Duration until);

  const std::uint64_t seed_;
  Random random_;
  Timeline& time_;
  const Clock clock_;
  Cloud& cloud_;
  const Disk& disk_;
  const Complain complain_;
  PushWire wire_;
  std::vector<PushRules> rules_;    ///< Of the honest pool and of the liar's.
  std::vector<PushAgents> agents_;  ///< Likewise.
  std::optional<HonestPusher> honest_;
  std::optional<LyingPusher> liar_;
  std::set<const Machine*> came_up_;
  bool was_put_back_ = false, has_faults_ = true;
};

}  // namespace hostler::sim
