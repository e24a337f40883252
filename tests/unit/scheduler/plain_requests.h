#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/base/random.h"
#include "tests/unit/scheduler/world_builder.h"

/// Menus and requests by which the packer is measured.
namespace hostler::scheduler {

/// A vcpu: so the packer is measured, and not how requests are rounded.
inline constexpr std::int32_t kUnits = 20;
inline constexpr std::int64_t kRatios = 0;  ///< The menu of three ratios; others: linear types.

/// linear: so many types of i vcpus and 2 i GiB, price linear in i.
/// ratios: types of 1, 2, 4, 8, 16 and 32 vcpus with 2, 4 and 8 GiB a vcpu, on demand at 0.025 a
///         vcpu and 0.001 a GiB, and as spot at 0.7 of it: 36 types.
/// Each host loses `overhead` units.
inline void add_menu(Site& site, std::int64_t types, std::int32_t overhead = 0) {
  site.pool().sizes.max = 1'000'000;
  for (std::int32_t i = 1; i <= types; ++i)
    site.type("t" + std::to_string(i), i * kUnits - overhead, 2 * i, i * 10'000);
  if (types != kRatios) return;
  for (const auto market : {model::Market::kOnDemand, model::Market::kSpot})
    for (const std::int32_t gib : {2, 4, 8})
      for (std::int32_t vcpus = 1; vcpus <= 32; vcpus *= 2) {
        const std::int64_t price = std::int64_t{vcpus} * (25'000 + 1'000 * gib);
        site.type("r" + std::to_string(gib) + "." + std::to_string(vcpus),
                  vcpus * kUnits - overhead, std::int64_t{vcpus} * gib,
                  market == model::Market::kSpot ? price * 7 / 10 : price, market);
      }
}

/// Requests of {0.1, 0.25, 0.5, 1, 1.5} vcpus and {100, 256, 512, 1024, 2048, 4096} MiB, uniform
/// and independent.
inline void add_plain_requests(Site& site, std::uint64_t count, std::uint64_t seed) {
  constexpr std::array<std::int32_t, 5> kCpu{2, 5, 10, 20, 30};
  constexpr std::array<std::int64_t, 6> kRam{100, 256, 512, 1024, 2048, 4096};
  Random random(seed);
  // By shape, when they arrive: in any order.
  std::map<std::pair<std::int32_t, std::int64_t>, std::vector<demand::Turn>> shapes;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::int32_t cpu = kCpu[random.below(kCpu.size())];
    shapes[{cpu, kRam[random.below(kRam.size())]}].push_back({.use = 0, .arrival = i});
  }
  for (const auto& [shape, turns] : shapes) {
    demand::ClassView& view = site.snapshot.classes[site.jobs(turns.size(), shape.first)];
    view.shape.needs.ram = shape.second * kMiB;
    view.heads.assign(turns.begin(),
                      turns.begin() + std::min<std::ptrdiff_t>(32, std::ssize(turns)));
  }
}

}  // namespace hostler::scheduler
