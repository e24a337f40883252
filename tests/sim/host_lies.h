#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "core/base/random.h"
#include "tests/sim/cloud.h"
#include "tests/sim/offerings.h"

namespace hostler::sim {

/// On one day in eight types have kScratch for jobs, some jobs need a part of it, and half of the
/// machines have and report kShortDisk only. No other choice of the day depends on this.
inline constexpr std::int64_t kScratch = std::int64_t{100} << 30,
                              kShortDisk = std::int64_t{40} << 30,
                              kScratchOfJobs = std::int64_t{25} << 30;
inline bool has_short_disks(std::uint64_t seed) {
  return seed % 8 == 3 && !Offerings::is_of(seed);  // What the cloud offers has no scratch.
}

/// On one day in eight machines have other RAM than their type: most have less, some more, and one
/// in ten has less than half. A part of it is reserved, a small host runs few jobs, and some jobs
/// need much RAM, parts of vcpus, or nothing. No other choice of the day depends on this.
inline constexpr model::RamReserve kReserveOfDay{.bytes = 0, .share = 5'00};
inline constexpr std::int32_t kJobsOnSmall = 2;
inline bool has_short_ram(std::uint64_t seed) { return seed % 8 == 5 && !Offerings::is_of(seed); }
/// What the machine reports on such a day.
inline std::int64_t ram_of(const Machine& machine) {
  const std::int64_t percent = std::array{120, 120, 75, 75, 75, 120, 90, 90, 90, 40}
      [static_cast<std::size_t>(machine.id.back() - '0') % 10];
  return machine.request.type.resources.ram / 100 * percent;
}

/// On one day in eight the pool allows few uses of a host. No other choice of the day depends on
/// this.
inline constexpr std::int32_t kUsesOfDay = 3;
inline bool has_few_uses(std::uint64_t seed) { return seed % 8 == 6; }

/// On one day in eight output comes late: some of it never, some waits for room on the daemon's
/// disk, and an admin gives some up. No other choice of the day depends on this.
inline bool has_late_output(std::uint64_t seed) { return seed % 8 == 1; }

/// The false reports of hosts that somebody else controls: numbers that cannot be, and numbers that
/// can be and are false.
class HostLies {
 public:
  explicit HostLies(std::uint64_t seed) : random_(seed) {}

  /// From now on one host in three lies.
  void begin() { begun_ = true; }
  [[nodiscard]] bool is_liar(const Machine& machine) const {
    return begun_ && machine.id.back() % 3 == 0;
  }
  [[nodiscard]] bool chance(double p) { return random_.chance(p); }
  [[nodiscard]] std::uint64_t below(std::uint64_t n) { return random_.below(n); }

  /// Before 1970, long ago, in the future or beyond the year 2100.
  Wall time();
  /// Another exit status, use and duration. Whether output follows stays as it was.
  void distort(model::AttemptEnd& end);
  /// A report about an attempt that the host never got. Its numbers can be true.
  model::HostEventBody about(model::AttemptId foreign);
  std::uint64_t sequence();
  /// More than any type has, or a number that cannot be.
  std::int64_t scratch();

 private:
  Random random_;
  bool begun_ = false;
};

/// Replaces numbers of a host that cannot be, as the daemon's links do: by core/agent/bounds.h.
struct Bounded {
  std::string problem;   ///< Empty: there was none.
  bool is_void = false;  ///< It names no attempt: the link drops it.
};
Bounded bound(model::HostEventBody& body);

}  // namespace hostler::sim
