#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "answer.h"
#include "config.h"

namespace hostler::lxd {

/// A machine of LXD: a member of a cluster, or the only one.
struct Place {
  std::string zone;  ///< Empty: there are no zones.
  std::string architecture;
  bool is_on = true;  ///< Takes containers.
  /// Not there: LXD does not say.
  std::optional<std::int64_t> vcpus, ram_bytes;
};

/// What the limits of a project leave. Not there: LXD does not say; a large number: no limit.
struct ProjectRoom {
  std::optional<std::int64_t> instances, vcpus, ram_bytes;
};

/// From GET /1.0/resources.
void read_resources(const Value& resources, Place& to);
/// From GET /1.0/projects/NAME/state.
ProjectRoom read_project_state(const Value& state);

/// HOSTLER_AVAILABLE_*. What runs already counts against the limits of the project only: a
/// container's limits reserve nothing on the machine.
std::uint32_t availability(const Size& size, const Place& place, const ProjectRoom& room);

}  // namespace hostler::lxd
