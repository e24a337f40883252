#pragma once

#include <cstdint>
#include <numeric>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "core/base/random.h"
#include "tests/unit/scheduler/world_builder.h"

namespace hostler::scheduler {

/// All that a plan decides, for comparisons.
inline std::string text(const Site& site, const Plan& plan) {
  std::ostringstream out;
  for (const Place& p : plan.places)
    out << "place " << p.host.text() << ' ' << p.cls << ' ' << p.count << '\n';
  for (const Create& c : plan.creates) {
    const Offering& o = site.snapshot.offerings[c.offering];
    out << "create " << site.policy.types[o.type].name << ' ' << o.zone << ' ' << o.pool << ' '
        << c.reason;
    for (const demand::Load& load : c.load) out << ' ' << load.cls << 'x' << load.count;
    out << '\n';
  }
  for (const Shutdown& s : plan.shutdowns)
    out << "end " << s.host.text() << ' ' << s.reason << '\n';
  for (const SwitchOff& s : plan.switch_offs)
    out << "off " << s.host.text() << ' ' << s.reason << '\n';
  for (const Drain& d : plan.drains) out << "drain " << d.host.text() << ' ' << d.reason << '\n';
  for (const Wake& w : plan.wakes) out << "wake " << w.host.text() << ' ' << w.reason << '\n';
  for (const Reserve& r : plan.reservations)
    out << "reserve " << r.host.text() << ' ' << r.cls << '\n';
  for (const Waiting& w : plan.waiting)
    out << "wait " << w.cls << ' ' << to_string(w.code) << ' ' << w.reason << '\n';
  for (const Rejected& r : plan.rejected) out << "no " << r.cls << ' ' << r.reason << '\n';
  return out.str();
}

/// Returns by index where each item has gone.
template <class T>
std::vector<std::uint32_t> shuffle(std::vector<T>& items, Random& random) {
  std::vector<std::uint32_t> moved_to(items.size()), order(items.size());
  std::iota(order.begin(), order.end(), 0U);
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
  std::vector<T> out;
  for (std::uint32_t i = 0; i < order.size(); ++i) {
    moved_to[order[i]] = i;
    out.push_back(items[order[i]]);
  }
  items = std::move(out);
  return moved_to;
}

}  // namespace hostler::scheduler
