#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "core/agent/protocol.h"

namespace hostler::agent {

/// The facts about this host that a Start is checked against.
struct HostFacts {
  std::string boot_id;
  std::uint64_t last_sequence = 0;    ///< The highest sequence number that a start has used.
  std::size_t attempts = 0;           ///< Attempts in the table, ended ones included.
  bool is_known = false;              ///< The attempt of this Start is already in the table.
  std::uint64_t descriptors_max = 0;  ///< The most that a process may have open.
  /// The attempts that run and have cards, by UUID of the card and path of its files.
  std::map<std::string, model::AttemptId> holders = {};
};

/// Returns why the attempt must not start on this host, or nullopt if it may. Pure.
std::optional<Refused> check_start(const Start& start, const HostFacts& host);

}  // namespace hostler::agent
