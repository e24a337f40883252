#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "core/scheduler/resource_vector.h"
#include "core/scheduler/world.h"

/// Vector packing of what is missing into what can be bought, at little cost.
///
/// Weights of the resources are chosen to make a lower bound of the cost as high as can be (the
/// surrogate bound: an item costs at least its weight times the cheapest price per weight of any
/// kind that may hold it). That bound prices each item; the kind whose best fill costs least for
/// the worth of what is in it is bought first, as often as its fill can be repeated.
namespace hostler::scheduler {

/// Items that may go to the same kinds, whatever their priority.
struct Lot {
  std::uint32_t need = 0;             ///< Index into World::needs.
  std::vector<bool> on_demand;        ///< By pool: may fall back to on_demand there.
  std::vector<std::uint32_t> demand;  ///< Whose items they are, most urgent first.
  std::uint64_t left = 0;
};

/// Offerings that differ in zone and set only, where no item cares.
struct Kind {
  std::vector<std::uint32_t> offerings;
  const Offering* like = nullptr;
  std::int32_t attempts_max = INT32_MAX;
  double price = 0;
  ResourceVector size{};
  std::vector<std::uint32_t> lots;  ///< That may go there.
  double bound = 0;                 ///< No fill costs less per worth.
  std::int64_t rank = 0;            ///< The bound, such that nearly equal ones are equal.
};

struct Pattern {
  std::uint32_t kind = 0;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> items;  ///< Lot and count, on one host.
  std::uint64_t copies = 0;
};

class Packer {
 public:
  Packer(const World& world, std::vector<Lot> lots);

  /// What to buy next; nothing when all is packed or nothing may hold what is left. The caller
  /// says took() or exhausted() before it asks again.
  [[nodiscard]] std::optional<Pattern> next();
  void took(const Pattern& pattern, std::uint64_t copies);
  /// No more of that kind: a ceiling.
  void exhausted(std::uint32_t kind);

  [[nodiscard]] const Lot& lot(std::uint32_t index) const { return lots_[index]; }
  [[nodiscard]] const Kind& kind(std::uint32_t index) const { return kinds_[index]; }
  /// No packing of the lots as they were costs less, per hour.
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
  std::vector<double> norm_;           ///< By lot: length of its size, weighted.
  std::vector<Kind> kinds_;
  std::vector<std::uint32_t> order_;  ///< Kinds by bound, those in use only.
  ResourceVector weights_{};
  double lower_bound_ = 0;
  int rounds_since_order_ = 0;
  bool all_rules_ = false;
  std::uint64_t work_ = 0;       ///< Items looked at, so that effort is bounded without a clock.
  std::vector<Pattern> solved_;  ///< Last first: what next() gives until a ceiling is met.
};

/// What still lacks a host, grouped; `from` to `to` are indices into World::demand.
[[nodiscard]] std::vector<Lot> lots_of(const World& world, std::uint32_t from, std::uint32_t to);

}  // namespace hostler::scheduler
