#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/dispatch/state/gpu_reports.h"
#include "core/dispatch/state/ram_reports.h"
#include "core/dispatch/state/scratch_reports.h"
#include "core/fleet/instance.h"
#include "core/model/policy.h"
#include "core/pricing/book.h"
#include "core/scheduler/snapshot.h"

namespace hostler::dispatch {

/// The offerings that the site may buy: each instance type in each pool's sets, zones and subnets,
/// at its present price.
class Menu {
 public:
  /// `policy` outlives the menu.
  explicit Menu(const model::SitePolicy& policy);

  /// The policy has changed: makes the offerings anew, and forgets what was learned of types: which
  /// cannot be stopped, and what scratch their hosts have reported. Of the RAM and the cards that
  /// were reported only what does not fit to the policy; it is returned for the journal.
  [[nodiscard]] std::vector<model::Change> reload();
  void restore(const model::PriceRow& price) { prices_.restore(price); }
  void restore(const model::RamReport& report) { ram_.restore(report); }
  void restore(const model::GpuReport& report) { gpus_.restore(report); }
  /// Makes the offerings anew, at the present prices, with the RAM and the cards that hosts have
  /// reported.
  void rebuild();

  /// With the resources that jobs get. `shut` and `can_stop` are not set, because they depend on
  /// gates and sets.
  [[nodiscard]] const std::vector<scheduler::Offering>& offerings() const { return offerings_; }
  /// Index into offerings() of the instance's offering. If its zone is no longer on the menu, that
  /// of another zone; UINT32_MAX: none.
  [[nodiscard]] std::uint32_t offering_of(const fleet::Instance& instance) const;
  /// Index into SitePolicy::types.
  [[nodiscard]] std::optional<std::uint32_t> type_index(const std::string& name) const;
  /// What the cloud says in its price history or its offerings, also by the site's file of prices;
  /// nullopt: nothing.
  [[nodiscard]] std::optional<model::Micros> clouds_price_of(std::uint32_t set, std::uint32_t type,
                                                             const std::string& zone,
                                                             model::Market market) const;
  /// The same, otherwise the configured price with that of its scratch disk.
  [[nodiscard]] model::Micros price_of(std::uint32_t set, std::uint32_t type,
                                       const std::string& zone, model::Market market) const;

  /// What the type costs at least in each set in which the pool may buy it: sets by index.
  /// O(sets of the site), and the zones of each.
  [[nodiscard]] std::map<std::uint32_t, model::Micros> least_prices(std::uint32_t pool,
                                                                    std::uint32_t type) const;

  /// Types that the set offers, by index.
  [[nodiscard]] std::set<std::uint32_t> types_of(std::uint32_t set) const;
  /// The start time of the newest known price of the type.
  [[nodiscard]] std::optional<Wall> newest_price(std::uint32_t set, std::uint32_t type) const;
  struct PriceNews {
    std::vector<model::PriceRow> news;        ///< For the journal.
    bool changed = false;                     ///< The price of an offering has changed.
    std::vector<std::uint32_t> doubted = {};  ///< Offerings whose price is doubted since now.
  };
  PriceNews take_prices(std::uint32_t set, const std::string& type,
                        const std::vector<model::ZonePrice>& fetched, Wall now);

  /// See RamReports and GpuReports.
  [[nodiscard]] std::vector<model::Change> settle_reports();
  [[nodiscard]] RamReports& ram() { return ram_; }
  [[nodiscard]] const RamReports& ram() const { return ram_; }
  [[nodiscard]] GpuReports& gpus() { return gpus_; }
  [[nodiscard]] const GpuReports& gpus() const { return gpus_; }
  [[nodiscard]] ScratchReports& scratch() { return scratch_; }
  [[nodiscard]] const ScratchReports& scratch() const { return scratch_; }

  /// Records that the set's cloud never stops instances of this type. False: already recorded.
  bool refuse_stop(std::uint32_t set, const std::string& type) {
    return refuses_stop_.emplace(set, type).second;
  }
  [[nodiscard]] bool refuses_stop(std::uint32_t set, const std::string& type) const {
    return refuses_stop_.contains({set, type});
  }

 private:
  /// The pool is part of the key: pools that share a set and a type have their own caps and timers.
  using Key = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::string>;

  void add(std::uint32_t pool, std::uint32_t set, std::uint32_t type);

  const model::SitePolicy& policy_;
  pricing::Book prices_;
  std::vector<scheduler::Offering> offerings_;
  std::map<Key, std::uint32_t, std::less<>> index_;  ///< By pool, set, type, zone.
  std::set<std::pair<std::uint32_t, std::string>> refuses_stop_;
  ScratchReports scratch_;
  RamReports ram_;
  GpuReports gpus_;
};

}  // namespace hostler::dispatch
