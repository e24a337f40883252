#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "core/scheduler/resource_vector.h"
#include "core/scheduler/world.h"

/// Packs the items that lack a host into new hosts, at a low total price (vector bin packing).
///
/// A lower bound of the price (surrogate bound): each item costs at least its weight times the
/// cheapest price per weight of the kinds that may hold it. The weights of the resources are chosen
/// so that this bound is high, and the bound gives each item its worth. The kind of host with the
/// lowest price per worth of its best fill is bought first, as often as the fill can be repeated.
namespace hostler::scheduler {

/// Items that may go to the same kinds of host, of any priority.
struct Lot {
  std::uint32_t need = 0;             ///< Index into World::needs.
  std::vector<bool> on_demand;        ///< By pool: they may fall back to on_demand there.
  std::vector<std::uint32_t> demand;  ///< Indices into World::demand, most urgent first.
  std::uint64_t left = 0;             ///< Items that are not packed yet.
  /// They go only where the part of a host that each holds costs at most this.
  std::optional<model::Micros> price_most = {};
};

/// A kind of host: offerings that differ only in set, and in zone unless an item names one.
struct Kind {
  std::vector<std::uint32_t> offerings;
  const Offering* like = nullptr;
  std::int32_t attempts_max = INT32_MAX;
  double price = 0;
  ResourceVector size{};
  std::vector<std::uint32_t> lots;  ///< Lots that may go there.
  double bound = 0;                 ///< Every fill costs at least this per worth.
  std::int64_t rank = 0;            ///< The bound, rounded: nearly equal ones are equal.
};

/// The items of one host, and how many such hosts to buy.
struct Pattern {
  std::uint32_t kind = 0;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> items;  ///< Lot and count, on one host.
  std::uint64_t copies = 0;
};

class Packer {
 public:
  Packer(const World& world, std::vector<Lot> lots);

  /// The next hosts to buy; nullopt if all items are packed or no kind may hold the others. The
  /// caller calls took() or exhausted() before it asks again.
  [[nodiscard]] std::optional<Pattern> next();
  /// So many hosts of the pattern were bought.
  void took(const Pattern& pattern, std::uint64_t copies);
  /// A ceiling allows no more hosts of the kind.
  void exhausted(std::uint32_t kind);

  [[nodiscard]] const Lot& lot(std::uint32_t index) const { return lots_[index]; }
  [[nodiscard]] const Kind& kind(std::uint32_t index) const { return kinds_[index]; }
  /// Every packing of all lots costs at least this per hour.
  [[nodiscard]] double lower_bound() const { return lower_bound_; }

 private:
  enum class FillRule { kDot, kCosine, kWorth };
  struct Fill {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> items;
    double worth = 0;
  };
  /// One greedy packing of all lots.
  struct Packing {
    std::vector<Pattern> patterns;
    double cost = 0, unpacked = 0;
  };
  // pack_kinds.cc
  void gather_kinds();
  void drop_dominated();
  void weigh();
  [[nodiscard]] double bound_of(const ResourceVector& weights, std::vector<double>* worths) const;
  void order_kinds();

  // pack.cc
  void solve();
  [[nodiscard]] Packing pack_all();
  [[nodiscard]] std::optional<Pattern> step();
  void adjust_worths(const Packing& packing);
  void fill(const Kind& kind, FillRule rule, Fill& out);
  [[nodiscard]] bool too_dear(const Kind& kind, const Fill& fill) const;

  const World& world_;
  std::vector<Lot> lots_;
  std::vector<ResourceVector> sizes_;  ///< By lot.
  std::vector<double> worth_;          ///< By lot: of one item.
  std::vector<double> norm_;           ///< By lot: length of its weighted size.
  std::vector<Kind> kinds_;
  std::vector<std::uint32_t> order_;  ///< Kinds that may still be bought, by bound.
  ResourceVector weights_{};
  double lower_bound_ = 0;
  int rounds_since_order_ = 0;
  bool all_rules_ = false;
  std::uint64_t work_ = 0;  ///< Lots compared: bounds the time without a clock.
  std::vector<Pattern>
      solved_;  ///< The rest of the best packing, last first, until a ceiling is met.
};

/// The uncovered items of World::demand[from] to [to - 1], grouped.
[[nodiscard]] std::vector<Lot> lots_of(const World& world, std::uint32_t from, std::uint32_t to);

}  // namespace hostler::scheduler
