#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "core/scheduler/world.h"

namespace hostler::scheduler {

/// The room that is left on one host while a plan puts items on it. Its kind of cards, if it has
/// only one, is not looked at (World::meets).
struct HostRoom {
  model::Resources free;
  std::int64_t attempts_left = 0;
  bool has_work = false;
  model::GpuGroups cards = {};  ///< The free ones of a host with several groups; else empty.

  [[nodiscard]] static HostRoom of(const HostView& host) {
    return {host.free, host.attempts_left, host.busy, host.cards};
  }
  /// Of a host without work. `gpus`: its cards by group.
  [[nodiscard]] static HostRoom of_empty(const model::Resources& total,
                                         const model::GpuGroups& gpus, std::int64_t attempts) {
    return {total, attempts, false, gpus.size() > 1 ? gpus : model::GpuGroups{}};
  }
  /// It has room for an item of the need.
  [[nodiscard]] bool holds(const Need& need) const {
    return attempts_left > 0 && need.resources.fits_in(free) && !(need.exclusive && has_work) &&
           (cards.empty() || model::has_cards(cards, need.wish(), need.resources.gpus));
  }
  /// For how many items it has room, at most `wanted`.
  [[nodiscard]] std::uint64_t count(const Need& need, std::uint64_t wanted) const;
  /// Takes the room of items that it has room for. An exclusive one takes all of it.
  void take(const Need& need, std::uint64_t items);
};

/// Finds free room on hosts by best fit: the host with the fewest free vcpus, busy hosts before
/// empty ones, and for work without gpus hosts without gpus first. Exclusive work gets empty hosts.
///
/// Room only shrinks: a host without room for a need never has room for it later. So each need
/// looks at each entry of a list once. Time: O((hosts + takes) x needs) at worst.
class Room {
 public:
  explicit Room(const World& world) : world_(world), cursors_(world.needs.size()) {}

  /// Before the first find(). Among equal hosts the one that was added first is used first.
  void add(std::uint32_t host, const HostRoom& room, bool empty);
  /// The best host for an item of the need, as an index into the snapshot's hosts, or kNone.
  [[nodiscard]] std::uint32_t find(std::uint32_t need);
  /// The same among the hosts where the demand can pay for an item. Looks at all hosts with room.
  [[nodiscard]] std::uint32_t find_affordable(const Demand& demand);
  /// Takes room for up to `count` items on a host that was found and has room; returns how many,
  /// at least 1 if `count` is.
  std::uint64_t take(std::uint32_t host, std::uint32_t need, std::uint64_t count);

 private:
  static constexpr std::size_t kLevels = 256;  ///< The last one is of all hosts with more vcpus.
  enum Side : std::size_t { kBusy, kEmpty, kBusyGpu, kEmptyGpu, kSides };
  struct Entry {
    std::uint32_t host = 0;
    HostRoom room;
    std::uint32_t list = kNone, position = 0;  ///< Its valid entry; older entries are stale.
  };
  struct Cursors {
    std::vector<std::uint32_t> next;  ///< By list: entries before it have no room for the need.
    bool exhausted = false;
  };
  void add_to_list(std::uint32_t index, bool empty);
  /// Calls `see(list, next)` for each list that may have a host for the need, in the order of use,
  /// until it returns a host.
  template <class See>
  std::uint32_t search(std::uint32_t need, See see);
  std::uint32_t scan(std::uint32_t list, const Need& need, std::uint32_t& next) const;

  const World& world_;
  std::vector<Entry> rooms_;
  std::vector<std::uint32_t> room_of_;                              ///< By host: index into rooms_.
  std::array<std::vector<std::uint32_t>, kSides * kLevels> lists_;  ///< Of indices into rooms_.
  std::size_t levels_ = 0;                                          ///< In use.
  std::vector<Cursors> cursors_;                                    ///< By need.
};

}  // namespace hostler::scheduler
