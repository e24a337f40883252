#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "tests/unit/scheduler/world_builder.h"

namespace hostler::scheduler {

/// A lower bound of the price of new hosts for all jobs of a site that has no hosts and needs no
/// gpus and no scratch: jobs may be cut and spread over all types. By its dual: a vcpu costs u and
/// a GiB costs v, such that no type costs less than what it holds; the highest total of all jobs is
/// at a corner of what u and v may be, and each corner is tried. Jobs that are bound to some types
/// may cost more.
inline double linear_bound(const Site& site) {
  struct Size {
    double vcpus, gib, price;
  };
  std::vector<Size> types;
  for (const Offering& o : site.snapshot.offerings)
    types.push_back({static_cast<double>(o.resources.vcpus),
                     static_cast<double>(o.resources.ram) / static_cast<double>(kGiB),
                     static_cast<double>(o.price_per_hour.value)});
  // Of types with the same ratio only the cheapest limits u and v.
  std::ranges::sort(types, [](const Size& a, const Size& b) {
    const double x = a.gib * b.vcpus, y = b.gib * a.vcpus;
    return x != y ? x < y : a.price * b.vcpus < b.price * a.vcpus;
  });
  const auto same = [](const Size& a, const Size& b) { return a.gib * b.vcpus == b.gib * a.vcpus; };
  types.erase(std::unique(types.begin(), types.end(), same), types.end());
  double vcpus = 0, gib = 0;
  for (const demand::ClassView& view : site.snapshot.classes) {
    const auto count = static_cast<double>(view.count);
    vcpus += count * static_cast<double>(view.shape.needs.vcpus);
    gib += count * static_cast<double>(view.shape.needs.ram) / static_cast<double>(kGiB);
  }
  double best = 0;
  const auto try_corner = [&](double u, double v) {
    // The corner is moved inwards until it satisfies every type: still a bound if it is none.
    double scale = 1;
    for (const Size& t : types) {
      const double worth = u * t.vcpus + v * t.gib;
      if (u < 0 || v < 0) return;
      if (worth > t.price) scale = std::min(scale, t.price / worth);
    }
    best = std::max(best, scale * (u * vcpus + v * gib));
  };
  for (std::size_t i = 0; i < types.size(); ++i) {
    const Size& a = types[i];
    try_corner(a.price / a.vcpus, 0);
    try_corner(0, a.price / a.gib);
    for (std::size_t j = i + 1; j < types.size(); ++j) {
      const Size& b = types[j];
      const double det = a.vcpus * b.gib - b.vcpus * a.gib;
      try_corner((a.price * b.gib - b.price * a.gib) / det,
                 (a.vcpus * b.price - b.vcpus * a.price) / det);
    }
  }
  return best;
}

}  // namespace hostler::scheduler
