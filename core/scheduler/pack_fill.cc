#include <algorithm>
#include <cmath>
#include <tuple>
#include <vector>

#include "core/scheduler/fit.h"
#include "core/scheduler/pack.h"
#include "core/scheduler/price_rule.h"

/// What the packer puts on one host.
namespace hostler::scheduler {
namespace {

constexpr double kSharesAtOnce = 4;  ///< This part of the hosts that are needed gets equal fills.
constexpr double kBalance = 0.3;     ///< Of an item: so much of it a lot may lack less.
constexpr std::size_t kPartsCompared = 32;

}  // namespace

void Packer::fill(std::uint32_t k, FillRule rule, Fill& out) {
  const Kind& kind = kinds_[k];
  Filling host = empty_host(kind);
  const std::uint64_t most = rule == FillRule::kShare ? fill_shares(kind, host) : UINT64_MAX;
  fill_up(kind, rule == FillRule::kShare ? FillRule::kDot : rule, host);
  finish(k, host, most, out);
}

Packer::Filling Packer::empty_host(const Kind& kind) {
  const model::GpuGroups& gpus = kind.like->gpus;
  return {.free = kind.like->resources,
          .cards = gpus.size() > 1 ? gpus : model::GpuGroups{},
          .attempts = static_cast<std::uint64_t>(kind.attempts_max),
          .used = std::vector<std::uint64_t>(kind.lots.size(), 0)};
}

/// So many more items of the lot fit on the host, whatever its attempts are.
std::uint64_t Packer::count(const Lot& lot, const Filling& host) const {
  const std::uint64_t fits = fit_count(lot.item, host.free);
  if (host.cards.empty() || fits == 0) return fits;
  return std::min(fits, model::fit_count(host.cards, world_.needs[lot.need].wish(), lot.item.gpus));
}

/// Items that fit.
void Packer::put(const Lot& lot, std::uint64_t items, Filling& host) const {
  host.free -= times(lot.item, items);
  host.attempts -= items;
  if (!host.cards.empty())
    model::take_cards(host.cards, world_.needs[lot.need].wish(), lot.item.gpus, items);
}

/// Sets `out` to what is on the host, for at most so many equal hosts. Steps that count the items
/// on the host later do it in the order of `out`: what has no cards then is left out.
void Packer::finish(std::uint32_t k, const Filling& host, std::uint64_t copies_most,
                    Fill& out) const {
  const Kind& kind = kinds_[k];
  Filling again = empty_host(kind);
  out.kind = k;
  out.items.clear();
  out.worth = 0;
  out.copies = copies_most;
  for (std::uint32_t i = 0; i < kind.lots.size(); ++i) {
    if (host.used[i] == 0) continue;
    const std::uint32_t l = kind.lots[i];
    std::uint64_t items = host.used[i];
    if (!again.cards.empty()) {
      items = std::min(items, count(lots_[l], again));
      if (items == 0) continue;
      put(lots_[l], items, again);
    }
    out.items.emplace_back(l, static_cast<std::uint32_t>(items));
    out.worth += worth_[l] * static_cast<double>(items);
    out.copies = std::min(out.copies, lots_[l].left / items);
  }
}

/// For the case that the price rule refuses every fill of fill(): these may all begin with a lot
/// that pays for its host only together with others. Looks at each lot that pays for a host alone,
/// takes the one with the lowest price per worth, and fills up the rest of the host.
Packer::Fill Packer::fill_for_one_lot() {
  double best_ratio = HUGE_VAL;
  std::uint32_t best_kind = kNone, best_lot = 0;
  for (const std::uint32_t k : order_) {
    const Kind& kind = kinds_[k];
    const Offering& o = *kind.like;
    const Filling empty = empty_host(kind);
    work_ += kind.lots.size();
    for (std::uint32_t i = 0; i < kind.lots.size(); ++i) {
      const Lot& lot = lots_[kind.lots[i]];
      const std::uint64_t items = std::min({lot.left, empty.attempts, count(lot, empty)});
      if (items == 0) continue;
      const double ratio = kind.price / (worth_[kind.lots[i]] * static_cast<double>(items));
      if (ratio >= best_ratio ||
          is_too_dear(o.price_per_hour, price_singly(world_.needs[lot.need], o.market, items),
                      world_.policy.pools[o.pool]))
        continue;
      best_ratio = ratio, best_kind = k, best_lot = i;
    }
  }
  Fill out;
  if (best_kind == kNone) return out;
  const Kind& kind = kinds_[best_kind];
  Filling host = empty_host(kind);
  take(kind, best_lot, UINT64_MAX, host);
  fill_up(kind, FillRule::kDot, host);
  finish(best_kind, host, UINT64_MAX, out);
  return out;
}

/// Takes the same share of every lot, the share that lets equal hosts of this kind hold all of
/// them: so no lot is left over for the last hosts. \return how many equal hosts to buy at most.
std::uint64_t Packer::fill_shares(const Kind& kind, Filling& host) {
  ResourceVector total{};
  double items = 0;
  for (const std::uint32_t l : kind.lots) {
    const auto left = static_cast<double>(lots_[l].left);
    items += left;
    for (std::size_t d = 0; d < kResources; ++d) total[d] += left * shapes_[l].size[d];
  }
  double hosts = std::max(1.0, items / kind.attempts_max);
  for (std::size_t d = 0; d < kResources; ++d)
    if (kind.size[d] > 0) hosts = std::max(hosts, total[d] / kind.size[d]);
  std::vector<Part> parts;
  ResourceVector share_of_host{};
  for (std::size_t d = 0; d < kResources; ++d) share_of_host[d] = total[d] / hosts;
  for (std::uint32_t i = 0; i < kind.lots.size(); ++i) {
    const double share = static_cast<double>(lots_[kind.lots[i]].left) / hosts;
    const double whole = std::floor(share + 1e-9);
    if (share - whole > 1e-9) parts.push_back({share - whole, i});
    if (whole > 0) take(kind, i, static_cast<std::uint64_t>(whole), host);
  }
  work_ += kind.lots.size();
  deal(kind, parts, share_of_host, host);
  // The shares of the others change with each host: few equal ones.
  return std::max<std::uint64_t>(1, static_cast<std::uint64_t>(hosts / kSharesAtOnce));
}

/// What is less than an item of a lot is dealt: to the lots that lack most of one, and to those
/// that need most of what the host has too much of.
void Packer::deal(const Kind& kind, std::vector<Part>& parts, const ResourceVector& share,
                  Filling& host) {
  std::ranges::sort(parts, [](const Part& a, const Part& b) {
    return a.lacks != b.lacks ? a.lacks > b.lacks : a.lot < b.lot;
  });
  std::vector<Part> hand;
  for (std::size_t next = 0; host.attempts > 0 && (next < parts.size() || !hand.empty());) {
    while (next < parts.size() && hand.size() < kPartsCompared) hand.push_back(parts[next++]);
    const auto room = vector_of(host.free);
    ResourceVector missing{};  // Of the share of each resource.
    for (std::size_t d = 0; d < kResources; ++d)
      if (share[d] > 0) missing[d] = std::max(0.0, 1 - (kind.size[d] - room[d]) / share[d]);
    const double length = std::max(std::sqrt(dot(missing, missing)), 1e-9);
    std::erase_if(hand,
                  [&](const Part& part) { return count(lots_[kind.lots[part.lot]], host) == 0; });
    work_ += hand.size();
    const auto score = [&](const Part& part) {
      return part.lacks + kBalance * dot(missing, shapes_[kind.lots[part.lot]].direction) / length;
    };
    const auto best = std::ranges::max_element(hand, {}, score);
    if (best == hand.end()) continue;
    take(kind, best->lot, 1, host);
    hand.erase(best);
  }
}

/// Takes as many as fit.
void Packer::take(const Kind& kind, std::uint32_t i, std::uint64_t wanted, Filling& host) const {
  const Lot& lot = lots_[kind.lots[i]];
  const std::uint64_t items =
      std::min({wanted, host.attempts, lot.left - host.used[i], count(lot, host)});
  put(lot, items, host);
  host.used[i] += items;
}

/// Fills the rest of a host greedily, with the item that has the best score by the rule.
void Packer::fill_up(const Kind& kind, FillRule rule, Filling& host) {
  static constexpr std::uint32_t kNoLot = UINT32_MAX;
  while (host.attempts > 0) {
    const auto room = vector_of(host.free);
    ResourceVector pull{};
    for (std::size_t d = 0; d < kResources; ++d)
      if (kind.size[d] > 0) pull[d] = room[d] / (kind.size[d] * kind.size[d]);
    work_ += kind.lots.size();
    std::uint32_t best = kNoLot;
    double best_score = -1;
    for (std::uint32_t i = 0; i < kind.lots.size(); ++i) {
      const std::uint32_t l = kind.lots[i];
      if (lots_[l].left <= host.used[i]) continue;
      if (!lots_[l].item.fits_in(host.free)) continue;
      if (!host.cards.empty() && count(lots_[l], host) == 0) continue;
      const double score = rule == FillRule::kDot ? dot(pull, shapes_[l].size)
                           : rule == FillRule::kCosine
                               ? dot(pull, shapes_[l].size) / shapes_[l].length
                               : worth_[l];
      if (score > best_score) best = i, best_score = score;
    }
    if (best == kNoLot) break;
    const Lot& lot = lots_[kind.lots[best]];
    const std::uint64_t fits =
        std::min({count(lot, host), lot.left - host.used[best], host.attempts});
    const std::uint64_t items = std::max<std::uint64_t>(1, fits / 4);
    put(lot, items, host);
    host.used[best] += items;
  }
}

/// True if one host can hold all that is unplaced; `out` gets the cheapest.
bool Packer::hold_rest(Fill& out) const {
  out = {};
  ResourceVector total{};
  for (std::uint32_t l = 0; l < lots_.size(); ++l) {
    if (lots_[l].left == 0) continue;
    for (std::size_t d = 0; d < kResources; ++d)
      total[d] += shapes_[l].size[d] * static_cast<double>(lots_[l].left);
    for (std::size_t d = 0; d < kResources; ++d)
      if (total[d] > largest_[d] * (1 + 1e-9)) return false;
    if (lots_[l].left > INT32_MAX) return false;
    out.items.emplace_back(l, static_cast<std::uint32_t>(lots_[l].left));
  }
  use_cheapest(out);
  return out.kind != kNone && !out.items.empty() && !too_dear(out);
}

/// The cards of an empty host are enough for the items, in this order.
bool Packer::have_cards(const Kind& kind, const Fill& fill) const {
  if (kind.like->gpus.size() < 2) return true;
  Filling host = empty_host(kind);
  return std::ranges::all_of(fill.items, [&](const auto& item) {
    const Lot& lot = lots_[item.first];
    if (count(lot, host) < item.second) return false;
    put(lot, item.second, host);
    return true;
  });
}

/// The cheapest kind of host that may hold the items, if it costs less than the present one, or as
/// much and is no spot, or has fewer gpus.
void Packer::use_cheapest(Fill& fill) const {
  model::Resources sum;
  std::uint64_t count = 0;
  for (const auto& [l, n] : fill.items) {
    sum += times(lots_[l].item, n);
    count += n;
  }
  const auto may_hold = [&](const Kind& kind) {
    return sum.fits_in(kind.like->resources) &&
           count <= static_cast<std::uint64_t>(kind.attempts_max) &&
           std::ranges::all_of(fill.items,
                               [&](const auto& item) {
                                 return std::ranges::binary_search(kind.lots, item.first);
                               }) &&
           have_cards(kind, fill);
  };
  const auto price = [&](std::uint32_t k) {
    const Offering& o = *kinds_[k].like;
    return std::tuple(kinds_[k].price, o.market, o.resources.gpus);
  };
  for (const std::uint32_t k : order_) {
    if (fill.kind != kNone && price(k) >= price(fill.kind)) return;
    if (!may_hold(kinds_[k])) continue;
    fill.kind = k;
    return;
  }
}

/// The host costs too much beside the cheapest host for each of its items.
bool Packer::too_dear(const Fill& fill) const {
  const Offering& o = *kinds_[fill.kind].like;
  double singly = 0;
  for (const auto& [l, count] : fill.items)
    singly += price_singly(world_.needs[lots_[l].need], o.market, count);
  return is_too_dear(o.price_per_hour, singly, world_.policy.pools[o.pool]);
}

}  // namespace hostler::scheduler
