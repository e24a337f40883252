#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "core/model/ids.h"

namespace hostler::dispatch {

/// The least of a number that hosts have reported, by what tells kinds of hosts apart: a new host
/// may have no more, so plans count with it. What was reported while the menu had another number is
/// not used.
template <class Key>
class LeastReports {
 public:
  static constexpr std::size_t kReportsMax = 10'000;  ///< Of further kinds nothing is learned.
  struct Report {
    std::int64_t menu = 0, least = 0;
  };

  /// False: there is no place for it.
  bool put(const Key& key, Report report) {
    if (is_full() && !reports_.contains(key)) return false;
    reports_.insert_or_assign(key, report);
    return true;
  }
  /// A proved host has `value`. Returns the number with which plans count from now on, if it is
  /// another one: it is the least; or ten hosts in a row had more, so that one odd host does not
  /// decide for ever.
  [[nodiscard]] std::optional<std::int64_t> take(const Key& key, std::int64_t menu,
                                                 model::InstanceId host, std::int64_t value) {
    const std::int64_t now = expected(key, menu);
    if (value > now) {
      const auto higher = reports_.contains(key) ? raised(key, host, value) : std::nullopt;
      return higher ? std::optional(std::min(menu, *higher)) : std::nullopt;
    }
    more_.erase(key);
    return value == now ? std::nullopt : std::optional(value);
  }
  /// What a new host has: never more than the menu says.
  [[nodiscard]] std::int64_t expected(const Key& key, std::int64_t menu) const {
    const auto known = reports_.find(key);
    return known == reports_.end() || known->second.menu != menu
               ? menu
               : std::min(menu, known->second.least);
  }
  /// Forgets the reports of kinds whose number on the menu has changed, and if there is no place
  /// for more, those of kinds that are not on the menu: `menu_of(key)` is unset. Returns their
  /// keys.
  template <class MenuOf>
  [[nodiscard]] std::vector<Key> settle(const MenuOf& menu_of) {
    const bool was_full = is_full();
    std::vector<Key> out;
    std::erase_if(reports_, [&](const auto& entry) {
      const std::optional<std::int64_t> menu = menu_of(entry.first);
      const bool stays = menu ? *menu == entry.second.menu : !was_full;
      if (!stays) out.push_back(entry.first);
      return !stays;
    });
    return out;
  }

 private:
  /// Hosts that had more, since one had no more.
  struct More {
    std::set<model::InstanceId> hosts;
    std::int64_t least = INT64_MAX;
  };

  [[nodiscard]] bool is_full() const { return reports_.size() >= kReportsMax; }
  /// What plans may count with if this is the last of enough hosts that had more.
  std::optional<std::int64_t> raised(const Key& key, model::InstanceId host, std::int64_t value) {
    constexpr std::size_t kHostsInARow = 10;
    More& more = more_[key];
    more.hosts.insert(host);
    more.least = std::min(more.least, value);
    if (more.hosts.size() < kHostsInARow) return std::nullopt;
    const std::int64_t out = more.least;
    more_.erase(key);
    return out;
  }

  std::map<Key, Report> reports_;
  std::map<Key, More> more_;
};

}  // namespace hostler::dispatch
