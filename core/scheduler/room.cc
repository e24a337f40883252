#include "core/scheduler/room.h"

#include <algorithm>

#include "core/scheduler/fit.h"

namespace hostler::scheduler {

std::uint64_t HostRoom::count(const Need& need, std::uint64_t wanted) const {
  if (!holds(need)) return 0;
  return std::min(
      {wanted, fit_count(need, free, cards), static_cast<std::uint64_t>(attempts_left)});
}

void HostRoom::take(const Need& need, std::uint64_t items) {
  if (items == 0) return;
  has_work = true;
  if (need.exclusive) {
    free = {};
    attempts_left = 0;
    cards.clear();
    return;
  }
  if (!cards.empty()) model::take_cards(cards, need.wish(), need.resources.gpus, items);
  free -= times(need.resources, items);
  attempts_left -= static_cast<std::int64_t>(items);
}

void Room::add(std::uint32_t host, const HostRoom& room, bool empty) {
  if (room_of_.empty()) room_of_.assign(world_.snapshot.hosts.size(), kNone);
  room_of_[host] = static_cast<std::uint32_t>(rooms_.size());
  rooms_.push_back({.host = host, .room = room});
  add_to_list(room_of_[host], empty);
}

void Room::add_to_list(std::uint32_t index, bool empty) {
  Entry& entry = rooms_[index];
  const model::Resources& free = entry.room.free;
  const auto vcpus = static_cast<std::size_t>(std::max<std::int64_t>(0, free.vcpus.whole()));
  const std::size_t level = std::min(vcpus, kLevels - 1);
  const std::size_t side = (free.gpus > 0 ? kBusyGpu : kBusy) + (empty ? 1U : 0U);
  levels_ = std::max(levels_, level + 1);
  entry.list = static_cast<std::uint32_t>(side * kLevels + level);
  entry.position = static_cast<std::uint32_t>(lists_[entry.list].size());
  lists_[entry.list].push_back(index);
}

std::uint32_t Room::scan(std::uint32_t list, const Need& need, std::uint32_t& next) const {
  const auto& entries = lists_[list];
  for (; next < entries.size(); ++next) {
    const Entry& entry = rooms_[entries[next]];
    if (entry.list == list && entry.position == next && entry.room.holds(need)) {
      const std::uint32_t host = entry.host;
      if (!world_.given_up(need, host) && world_.meets(need, world_.snapshot.hosts[host]))
        return host;
    }
  }
  return kNone;
}

template <class See>
std::uint32_t Room::search(std::uint32_t need_index, See see) {
  Cursors& cursors = cursors_[need_index];
  if (cursors.exhausted) return kNone;
  if (cursors.next.empty()) cursors.next.assign(lists_.size(), 0);
  const Need& need = world_.needs[need_index];
  const auto lowest = static_cast<std::size_t>(need.resources.vcpus.whole());
  for (std::size_t side = need.resources.gpus > 0 ? kBusyGpu : kBusy; side < kSides; ++side)
    for (std::size_t level = std::min(lowest, kLevels - 1); level < levels_; ++level) {
      const std::size_t list = side * kLevels + level;
      if (cursors.next[list] == lists_[list].size()) continue;
      const std::uint32_t host = see(static_cast<std::uint32_t>(list), cursors.next[list]);
      if (host != kNone) return host;
    }
  return kNone;
}

std::uint32_t Room::find(std::uint32_t need_index) {
  const Need& need = world_.needs[need_index];
  const std::uint32_t host = search(
      need_index, [&](std::uint32_t list, std::uint32_t& next) { return scan(list, need, next); });
  if (host == kNone) cursors_[need_index].exhausted = true;
  return host;
}

std::uint32_t Room::find_affordable(const Demand& demand) {
  const Need& need = world_.needs[demand.need];
  // Other demands of the need may take what this one cannot pay for: the cursors stay.
  return search(demand.need, [&](std::uint32_t list, std::uint32_t next) {
    for (;; ++next) {
      const std::uint32_t host = scan(list, need, next);
      if (host == kNone || world_.affordable(demand, world_.snapshot.hosts[host], 1) > 0)
        return host;
    }
  });
}

std::uint64_t Room::take(std::uint32_t host, std::uint32_t need, std::uint64_t count) {
  const std::uint32_t index = room_of_[host];
  HostRoom& room = rooms_[index].room;
  const std::uint64_t taken = room.count(world_.needs[need], count);
  room.take(world_.needs[need], taken);
  add_to_list(index, false);
  return taken;
}

}  // namespace hostler::scheduler
