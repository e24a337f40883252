#pragma once

#include <optional>

#include "core/base/time.h"

namespace hostler::fleet {

/// How long an instance that vanished still counts for ceilings: the cloud may have lied.
inline constexpr Duration kVanishedCounts = std::chrono::minutes(10);

/// The evidence that an instance does not exist any more, since the last list that showed it. It is
/// gone when two complete lists, a look-up by its id, and its connection agree. Listing changes it.
struct Absence {
  Absence(Wall noticed, Mono sent) : since(noticed), from(sent) {}

  /// The cloud has answered a look-up that was sent after the first list without it.
  [[nodiscard]] bool is_answered() const { return answered && *answered >= from; }
  /// That look-up did not find it.
  [[nodiscard]] bool is_confirmed() const { return not_found && *not_found >= from; }

  Wall since;
  Mono from;                      ///< The first list without it was sent.
  std::optional<Mono> answered;   ///< The last look-up that the cloud answered was sent.
  std::optional<Mono> not_found;  ///< The same, if it did not find the instance.
  bool found_gone = false;        ///< The cloud answered that look-up: it is gone.
  bool contradicted = false;      ///< Its connection lives on, and an alarm was raised.
  bool withheld = false;          ///< Contradicted for long: it gets no new work.
};

}  // namespace hostler::fleet
