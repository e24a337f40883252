#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/fleet/instance.h"
#include "core/model/policy.h"
#include "core/pricing/book.h"
#include "core/scheduler/snapshot.h"

namespace hostler::dispatch {

/// The offerings that the site may buy: each instance type in each pool's sets and zones, at its
/// present price.
class Menu {
 public:
  /// `policy` outlives the menu.
  explicit Menu(const model::SitePolicy& policy);

  /// After a change of the policy: offerings are made anew, and each type may be stopped again.
  void reload();
  void restore(const model::PriceRow& price) { prices_.restore(price); }
  /// Makes the offerings anew, at the prices of now.
  void rebuild();

  /// `shut` and `can_stop` are unset: they change with gates and sets.
  [[nodiscard]] const std::vector<scheduler::Offering>& offerings() const { return offerings_; }
  /// Index into offerings() of the one that the instance is of, or of another zone's if its zone
  /// has left the menu; UINT32_MAX: none.
  [[nodiscard]] std::uint32_t offering_of(const fleet::Instance& instance) const;
  /// Index into SitePolicy::types.
  [[nodiscard]] std::optional<std::uint32_t> type_index(const std::string& name) const;
  /// The cloud's price, else the one of the policy.
  [[nodiscard]] model::Micros price_of(std::uint32_t set, std::uint32_t type,
                                       const std::string& zone, model::Market market) const;

  /// Types that the set offers, by index.
  [[nodiscard]] std::set<std::uint32_t> types_of(std::uint32_t set) const;
  /// When the newest price that is known of the type began.
  [[nodiscard]] std::optional<Wall> newest_price(std::uint32_t set, std::uint32_t type) const;
  struct PriceNews {
    std::vector<model::PriceRow> news;  ///< For the journal.
    bool changed = false;               ///< An offering costs another price now.
  };
  PriceNews take_prices(std::uint32_t set, const std::string& type,
                        const std::vector<model::ZonePrice>& fetched, Wall now);

  /// The set's cloud never stops instances of that type. False if it was known.
  bool refuse_stop(std::uint32_t set, const std::string& type) {
    return refuses_stop_.emplace(set, type).second;
  }
  [[nodiscard]] bool refuses_stop(std::uint32_t set, const std::string& type) const {
    return refuses_stop_.contains({set, type});
  }

 private:
  /// Pools may share a set and a type, but neither caps nor timers.
  using Key = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::string>;

  void add(std::uint32_t pool, std::uint32_t set, std::uint32_t type);

  const model::SitePolicy& policy_;
  pricing::Book prices_;
  std::vector<scheduler::Offering> offerings_;
  std::map<Key, std::uint32_t, std::less<>> index_;  ///< By pool, set, type, zone.
  std::set<std::pair<std::uint32_t, std::string>> refuses_stop_;
};

}  // namespace hostler::dispatch
