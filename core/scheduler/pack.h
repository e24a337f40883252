#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/scheduler/resource_vector.h"
#include "core/scheduler/world.h"

/// Packs the items that lack a host into new hosts, at a low total price (vector bin packing).
///
/// A lower bound of the price (surrogate bound): each item costs at least its weight times the
/// cheapest price per weight of the kinds that may hold it. The weights of the resources are chosen
/// so that this bound is high, and the bound gives each item its worth. The kind of host with the
/// lowest price per worth of its best fill is bought first. A host is worth no more than what is
/// still unplaced: so the last hosts are as large as the rest needs.
namespace hostler::scheduler {

/// Items that may go to the same kinds of host, of any priority.
struct Lot {
  std::uint32_t need = 0;  ///< Index into World::needs; of a joined lot its dearest one.
  model::Resources item;  ///< What each item needs; of a joined lot the most that one of them does.
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
  std::uint32_t family = 0;         ///< Kinds of equal prices have the same.
  std::uint64_t room = 0;           ///< The ceilings allow so many hosts of one of its offerings.
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
  enum class FillRule { kShare, kDot, kCosine, kWorth };
  static constexpr std::array kAllRules{FillRule::kShare, FillRule::kDot, FillRule::kCosine,
                                        FillRule::kWorth};
  /// The items of one host.
  struct Fill {
    std::uint32_t kind = kNone;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> items;
    double worth = 0;
    std::uint64_t copies = 0;  ///< So many such hosts at most.
  };
  /// Free room of a host while it is filled.
  struct Filling {
    model::Resources free;
    model::GpuGroups cards;  ///< Of a kind with several groups; else empty.
    std::uint64_t attempts = 0;
    std::vector<std::uint64_t> used;  ///< By index into Kind::lots.
  };
  /// A lot, as an index into Kind::lots, that lacks so much of an item on a host.
  struct Part {
    double lacks = 0;
    std::uint32_t lot = 0;
  };
  /// A kind that is tried, and what it costs at least per worth of what is unplaced.
  struct Candidate {
    double least = 0;
    std::uint32_t kind = 0;
  };
  /// What does not change of a lot.
  struct LotShape {
    ResourceVector size{};       ///< Of one item.
    double length = 0;           ///< Of the size times the weights.
    ResourceVector direction{};  ///< The size beside all demand; of length 1.
  };
  /// How a packing is made.
  struct Round {
    std::span<const FillRule> rules;
    double good_enough = 1;        ///< Times the bound of a kind: a fill that costs less is taken.
    std::uint64_t hosts_most = 0;  ///< Beyond it, larger hosts are preferred at equal prices.
    int since_bound = 0;           ///< So often a lot ran out since the bounds of kinds were made.
    bool was_too_dear = false;     ///< The price rule has refused a fill, in any round so far.
  };
  /// One greedy packing of all lots.
  struct Packing {
    std::vector<Pattern> patterns;
    double cost = 0, unpacked = 0;
  };
  // pack_kinds.cc
  void gather_kinds();
  void drop_dominated();
  void group_families();
  [[nodiscard]] ResourceVector demand() const;
  [[nodiscard]] ResourceVector weigh();
  void divide_worth(const ResourceVector& weights, double least);
  [[nodiscard]] double bound_of(const ResourceVector& weights, std::vector<double>* worths) const;
  void bound_kinds();

  // pack_fill.cc
  void fill(std::uint32_t kind, FillRule rule, Fill& out);
  [[nodiscard]] static Filling empty_host(const Kind& kind);
  [[nodiscard]] std::uint64_t count(const Lot& lot, const Filling& host) const;
  void put(const Lot& lot, std::uint64_t items, Filling& host) const;
  [[nodiscard]] bool have_cards(const Kind& kind, const Fill& fill) const;
  void finish(std::uint32_t kind, const Filling& host, std::uint64_t copies_most, Fill& out) const;
  [[nodiscard]] Fill fill_for_one_lot();
  [[nodiscard]] std::uint64_t fill_shares(const Kind& kind, Filling& host);
  void deal(const Kind& kind, std::vector<Part>& parts, const ResourceVector& share, Filling& host);
  void take(const Kind& kind, std::uint32_t lot, std::uint64_t wanted, Filling& host) const;
  void fill_up(const Kind& kind, FillRule rule, Filling& host);
  [[nodiscard]] bool hold_rest(Fill& out) const;
  void use_cheapest(Fill& fill) const;
  [[nodiscard]] bool too_dear(const Fill& fill) const;

  // pack.cc
  void solve(const ResourceVector& weights);
  [[nodiscard]] std::pair<Packing, double> pack_by_divisions(const ResourceVector& weights);
  void improve(Packing& best);
  [[nodiscard]] static bool is_short(const Packing& one);
  [[nodiscard]] bool is_cheap(const Packing& one, bool strictly) const;
  static bool keep_better(Packing& best, Packing tried);
  [[nodiscard]] std::optional<Packing> pack_all(bool must_end);
  [[nodiscard]] bool must_hurry() const;
  [[nodiscard]] std::optional<Pattern> step();
  [[nodiscard]] std::vector<Candidate> find_candidates(double left, bool all) const;
  [[nodiscard]] Fill best_of(std::vector<Candidate> candidates);
  void adjust_worths(const Packing& packing);

  const World& world_;
  std::vector<Lot> lots_;
  std::vector<LotShape> shapes_;      ///< By lot.
  std::vector<double> worth_;         ///< By lot: of one item.
  std::vector<Kind> kinds_;           ///< Cheapest first.
  std::vector<std::uint32_t> order_;  ///< Kinds that may still be bought, cheapest first.
  /// The same by families: kinds of one pool and market with equal prices per resource.
  std::vector<std::vector<std::uint32_t>> families_;
  std::vector<std::uint32_t> weighed_;  ///< Of order_: the kinds that decide the lower bound.
  ResourceVector largest_{};            ///< The most of each resource that a kind has.
  ResourceVector weights_{};            ///< Those of the worths.
  double lower_bound_ = 0;
  std::uint64_t hosts_ = 0;  ///< Bought so far.
  Round round_;
  std::uint64_t work_ = 0;  ///< Lots compared: bounds the time without a clock.
  std::vector<Pattern>
      solved_;  ///< The rest of the best packing, last first, until a ceiling is met.
};

/// The uncovered items of World::demand[from] to [to - 1], grouped; without exclusive ones, which
/// share no host (whole_hosts.h).
[[nodiscard]] std::vector<Lot> lots_of(const World& world, std::uint32_t from, std::uint32_t to);

}  // namespace hostler::scheduler
