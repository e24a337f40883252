#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/time.h"

/// How the bounds of a pool that are expressions change the number of its hosts.
namespace hostler::model {

using namespace std::chrono_literals;

/// At most so much within each time of this length.
struct ScalingRate {
  std::int32_t value = 0;  ///< Hosts, or percent of the number at the beginning of `per`.
  bool is_percent = false;
  Duration per = 1min;
  friend bool operator==(const ScalingRate&, const ScalingRate&) = default;
};

/// Rules of one direction.
struct ScalingRules {
  Duration window{};                  ///< Stabilisation.
  std::vector<ScalingRate> policies;  ///< The one that allows most counts. Empty: no limit.
  double tolerance = 0;  ///< A part of the present number: smaller changes are left out.
  friend bool operator==(const ScalingRules&, const ScalingRules&) = default;
};

/// The way of a host before it goes because of its pool's bounds.
struct DrainPolicy {
  std::vector<std::string> command;  ///< At the daemon, no shell: absolute program and arguments.
  std::string quiet;                 ///< A boolean expression; empty: the end of the command.
  Duration timeout = 5min;           ///< After that it goes in any case.
  friend bool operator==(const DrainPolicy&, const DrainPolicy&) = default;
};

/// `pools[].scaling`.
struct ScalingPolicy {
  ScalingRules up, down{.window = 5min, .policies = {}, .tolerance = 0};
  Duration lifetime_min{};  ///< A younger host does not go because of bounds.
  std::string rank;         ///< A metric by instance: the lowest goes first. Empty: none.
  std::optional<DrainPolicy> drain;
  friend bool operator==(const ScalingPolicy&, const ScalingPolicy&) = default;
};

/// The bounds of a pool that are expressions, by their text; empty: that one is a number, or unset.
struct BoundTexts {
  std::string min, max, created_min, created_max;
  [[nodiscard]] bool any() const {
    return !min.empty() || !max.empty() || !created_min.empty() || !created_max.empty();
  }
  friend bool operator==(const BoundTexts&, const BoundTexts&) = default;
};

}  // namespace hostler::model
