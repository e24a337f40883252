#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "core/scheduler/world.h"

namespace hostler::scheduler {

/// Free room on some hosts, found by best fit: fewest free vcpus, hosts that work is on before
/// empty ones, hosts without gpus first for work that needs none.
///
/// Room only shrinks, so a host that did not hold a need never will: each need looks at each entry
/// of a level once. The cost is of the order of hosts + takes, times needs in the worst case.
class Room {
 public:
  explicit Room(const World& world) : world_(world), cursors_(world.needs.size()) {}

  /// Hosts must be added in the order in which equals are to be used, before the first find().
  void add(std::uint32_t host, const model::Resources& free, std::int32_t attempts_left,
           bool empty);
  /// Index of the snapshot's host on which one item of the need goes best, or kNone.
  [[nodiscard]] std::uint32_t find(std::uint32_t need);
  /// Takes room for `count` items on a host that find() gave; returns how many went there.
  std::uint64_t take(std::uint32_t host, std::uint32_t need, std::uint64_t count);

 private:
  static constexpr std::size_t kLevels = 256;  ///< More free vcpus than that are one level.
  enum Side : std::size_t { kBusy, kEmpty, kBusyGpu, kEmptyGpu, kSides };
  struct Seat {
    std::uint32_t host = 0;
    model::Resources free;
    std::int32_t attempts_left = 0;
    std::uint32_t list = kNone, position = 0;  ///< Where its one valid entry is.
  };
  struct Cursors {
    std::vector<std::uint32_t> next;  ///< By list: entries before it do not hold this need.
    bool exhausted = false;
  };
  void enter(std::uint32_t seat, bool empty);
  std::uint32_t scan(std::uint32_t list, const Need& need, std::uint32_t& next) const;

  const World& world_;
  std::vector<Seat> seats_;
  std::vector<std::uint32_t> seat_of_;  ///< By host.
  std::array<std::vector<std::uint32_t>, kSides * kLevels> lists_;
  std::size_t levels_ = 0;        ///< In use.
  std::vector<Cursors> cursors_;  ///< By need.
};

}  // namespace hostler::scheduler
