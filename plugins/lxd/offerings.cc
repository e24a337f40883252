#include "offerings.h"

#include <hostler/driver.h>

#include <algorithm>
#include <limits>

namespace hostler::lxd {
namespace {

using Room = std::optional<std::int64_t>;

/// Of several resources that all count, the least.
Room least(const Room& a, const Room& b) { return a && b ? std::min(a, b) : (a ? a : b); }

/// LXD writes these names with a capital, and -1 for no limit.
Room room_of(const Value& resources, const char* name) {
  const Value* const one = object_of(resources, name);
  if (one == nullptr || !one->HasMember("Limit") || !one->HasMember("Usage")) return std::nullopt;
  const std::int64_t limit = number_of(*one, "Limit");
  if (limit < 0) return std::numeric_limits<std::int64_t>::max();
  return std::max<std::int64_t>(0, limit - number_of(*one, "Usage"));
}

}  // namespace

void read_resources(const Value& resources, Place& to) {
  const auto total = [&](const char* name) -> Room {
    const Value* const one = object_of(resources, name);
    const std::int64_t number = one == nullptr ? 0 : number_of(*one, "total");
    return number > 0 ? Room(number) : std::nullopt;
  };
  to.vcpus = total("cpu");
  to.ram_bytes = total("memory");
}

ProjectRoom read_project_state(const Value& state) {
  const Value* const resources = object_of(state, "resources");
  if (resources == nullptr) return {};
  return {least(room_of(*resources, "instances"), room_of(*resources, "containers")),
          room_of(*resources, "cpu"), room_of(*resources, "memory")};
}

std::uint32_t availability(const Size& size, const Place& place, const ProjectRoom& room) {
  if (!place.is_on) return HOSTLER_AVAILABLE_NO;
  std::uint32_t out = HOSTLER_AVAILABLE_YES;
  const auto need = [&](std::int64_t wanted, const Room& there) {
    if (there && *there < wanted) out = HOSTLER_AVAILABLE_NO;
    if (!there && out == HOSTLER_AVAILABLE_YES) out = HOSTLER_AVAILABLE_UNKNOWN;
  };
  need(size.vcpus, place.vcpus);
  need(size.ram_bytes, place.ram_bytes);
  need(1, room.instances);
  need(size.vcpus, room.vcpus);
  need(size.ram_bytes, room.ram_bytes);
  return out;
}

}  // namespace hostler::lxd
