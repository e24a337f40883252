#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/dispatch/state/sets.h"
#include "core/dispatch/state/timer.h"
#include "core/model/policy.h"

namespace hostler::dispatch {

/// The watch for interruptions of one set.
struct SetWatch {
  std::optional<std::uint64_t> number;  ///< Of the call under way.
  Mono sent{};                          ///< When it was made.
  bool stands = false;                  ///< It has not failed for some seconds.
  bool supported = true;                ///< False: the driver has said that it has no watch.
  bool after_commit = false;            ///< The next one follows the UseDriver of its driver.
  Mono next{};                          ///< Made again then.
  std::uint32_t failures = 0;           ///< In a row.
  std::string error;                    ///< Why the last one failed; empty: it did not.
  std::uint64_t ignored = 0;            ///< Notices that named no instance of the set.
  std::optional<Mono> ignored_told;     ///< When an event last said so.
};

/// Of all sets, by index into SitePolicy::sets.
class Watches {
 public:
  /// A watch that was not refused for so long stands.
  static constexpr Duration kStands = std::chrono::seconds(10);

  explicit Watches(const model::SitePolicy& policy) : by_set_(policy.sets.size()) {}

  [[nodiscard]] SetWatch& of(std::uint32_t set) { return by_set_.at(set); }
  [[nodiscard]] const SetWatch& of(std::uint32_t set) const { return by_set_.at(set); }
  [[nodiscard]] Mono next_wake(const Sets& sets) const;
  /// What is to be done for the watch of one set.
  [[nodiscard]] std::array<Timer, 2> timers(const Sets& sets, std::uint32_t set) const;

 private:
  std::vector<SetWatch> by_set_;
};

}  // namespace hostler::dispatch
