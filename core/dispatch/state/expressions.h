#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/base/time.h"
#include "core/expression/expression.h"
#include "core/model/policy.h"
#include "core/scheduler/bound.h"

namespace hostler::dispatch {

/// One that does not compile is unknown, and says why: core/config refuses such a text.
using MaybeExpression = Result<expression::Expression>;

struct PoolExpressions {
  struct OfBound {
    scheduler::BoundOf of{};
    std::string text;
    MaybeExpression compiled;
  };
  std::vector<OfBound> bounds;           ///< Those that have a text.
  std::optional<MaybeExpression> quiet;  ///< Of its drain.
  bool counts_queue = false;             ///< Some of these count the work that waits.
};

/// The texts of all pools, compiled once for each policy, and which metrics they use.
class Expressions {
 public:
  /// O(all texts).
  void compile(const model::SitePolicy& policy);

  /// Empty before the first compile().
  [[nodiscard]] const PoolExpressions& of(std::uint32_t pool) const {
    static const PoolExpressions kNone;
    return pool < pools_.size() ? pools_[pool] : kNone;
  }
  /// The pools of which some bound is a text.
  [[nodiscard]] const std::vector<std::uint32_t>& pools() const { return with_bounds_; }
  /// The same, where a bound uses the metric.
  [[nodiscard]] const std::vector<std::uint32_t>& pools_of(const std::string& metric) const;
  /// Some pool asks whether its hosts are quiet.
  [[nodiscard]] bool has_quiet() const { return has_quiet_; }
  /// The longest time over which each metric is averaged.
  [[nodiscard]] const std::map<std::string, Duration>& windows() const { return windows_; }

 private:
  void add_bound(std::uint32_t pool, scheduler::BoundOf of, const std::string& text,
                 std::span<const std::string> metrics);
  void note_inputs(std::uint32_t pool, const MaybeExpression& compiled);

  std::vector<PoolExpressions> pools_;
  std::vector<std::uint32_t> with_bounds_;
  bool has_quiet_ = false;
  std::map<std::string, std::vector<std::uint32_t>> by_metric_;
  std::map<std::string, Duration> windows_;
};

}  // namespace hostler::dispatch
