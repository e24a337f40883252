#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/time.h"

namespace hostler::scheduler {

/// The bounds of a pool. Started hosts come or are ready, and will stay. Created hosts are those
/// and the hosts that are switched off and kept.
enum class BoundOf : std::uint8_t {
  kStartedMin,
  kStartedMax,
  kCreatedMin,
  kCreatedMax,
  kStandby,  ///< The minimum of started hosts without work.
  kStopped,  ///< The minimum of hosts that are switched off and kept.
};
inline constexpr std::size_t kBoundsOfPool = 6;
/// Sources may say any number; larger ones count as this.
inline constexpr std::int64_t kBoundMax = 1'000'000'000;

/// One bound of a pool, from one source. A source that says nothing of a bound has no Bound.
struct Bound {
  BoundOf of{};
  std::string source;                  ///< "pushed"
  std::optional<std::int64_t> number;  ///< Unset: the source does not know it now.
  std::string reason;                  ///< For people: "7 tasks wait"; may be empty.
  std::optional<Mono> until;  ///< A plan is due then. Unset: it holds until it is replaced.
  friend bool operator==(const Bound&, const Bound&) = default;
};

/// By pool. May be shorter than the policy's list: no source says anything of the other pools.
using BoundsByPool = std::vector<std::vector<Bound>>;

/// The source of which the policy has the numbers (PoolPolicy::sizes).
inline constexpr const char* kConfigSource = "config";
/// The source of bounds that are expressions.
inline constexpr const char* kExpressionSource = "expression";
/// The source of pools that an outside scheduler sizes: what it said last is too old, or not. A
/// maximum of 0 says that it has not pushed for `abandoned_after`.
inline constexpr const char* kPushedSource = "pushed";

}  // namespace hostler::scheduler
