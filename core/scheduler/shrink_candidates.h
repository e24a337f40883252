#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/model/reason.h"
#include "core/scheduler/world.h"

/// The hosts that shrink() may end or switch off, each with its reason. Private to shrink.
namespace hostler::scheduler {

/// A host that may go, if the pool's bounds do not need it.
struct Candidate {
  std::uint32_t host = 0;
  model::Reason code{};
  bool keeps_minimum = false;  ///< It counts for minimum and standby, so they may keep it.
};

/// Whether its pool has too many hosts: that is why the host goes.
[[nodiscard]] bool goes_for_bounds(model::Reason code);

/// By index into Snapshot::hosts; nullopt: the host stays.
[[nodiscard]] std::optional<Candidate> candidate_of(const World& world, std::uint32_t host);

/// Puts them in the order in which they go: by reason, but those whose drain is over before all
/// others; idle ones by price, the dearest first. Then equal ones go by load (LeaveOrder) in pools
/// that do so; then by time.
void put_in_order(const World& world, std::vector<Candidate>& candidates);

/// Why it goes, for people.
[[nodiscard]] std::string reason_of(const World& world, const Candidate& candidate);

}  // namespace hostler::scheduler
