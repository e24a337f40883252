#pragma once

#include <string>

#include "tests/unit/scheduler/world_builder.h"

namespace hostler::scheduler {

/// A pool of small hosts that can be switched off, without idle timeout.
struct ScalingSite : Site {
  const std::uint32_t small = type("small", 2, 4, 100);

  ScalingSite() {
    snapshot.offerings[small].can_stop = true;
    pool().idle_timeout = 0s;
    snapshot.bounds.resize(1);
  }
  HostView& add(std::uint64_t id, HostPhase phase = HostPhase::kReady, Duration age = 1h) {
    HostView& h = host(id, small, phase);
    h.can_stop = snapshot.offerings[small].can_stop;
    h.can_wake = phase == HostPhase::kStopped;
    h.created = h.since = snapshot.now - age;
    return h;
  }
  void hosts(std::uint64_t on, std::uint64_t off = 0) {
    for (std::uint64_t id = 1; id <= on + off; ++id)
      add(id, id <= on ? HostPhase::kReady : HostPhase::kStopped);
  }
  HostView& at(std::uint64_t id) { return snapshot.hosts[id - 1]; }
  /// The bounds of started hosts; negative: unknown.
  void started(std::int64_t min, std::int64_t max) {
    say(BoundOf::kStartedMin, min), say(BoundOf::kStartedMax, max);
  }
  void created(std::int64_t min, std::int64_t max) {
    say(BoundOf::kCreatedMin, min), say(BoundOf::kCreatedMax, max);
  }
  void say(BoundOf of, std::int64_t number) {
    auto& bounds = snapshot.bounds[0];
    std::erase_if(bounds, [&](const Bound& bound) { return bound.of == of; });
    bounds.push_back({.of = of,
                      .source = kExpressionSource,
                      .number = number < 0 ? std::nullopt : std::optional(number),
                      .reason = {},
                      .until = {}});
  }
  /// What booted and what was told to go has done so.
  void settle() {
    std::erase_if(snapshot.hosts, [](const HostView& h) { return h.phase == HostPhase::kLeaving; });
    for (HostView& h : snapshot.hosts) {
      if (h.drain == DrainPhase::kUnderWay) h.drain = DrainPhase::kOver;
      if (h.phase == HostPhase::kComing)
        h.phase = HostPhase::kReady, h.takes_work = true, h.since = snapshot.now;
      h.can_stop = snapshot.offerings[h.offering].can_stop;
    }
  }
  [[nodiscard]] std::int64_t count(HostPhase phase) const {
    return std::ranges::count(snapshot.hosts, phase, &HostView::phase);
  }
};

inline std::vector<std::uint64_t> switched_off(const Plan& plan) {
  std::vector<std::uint64_t> out;
  for (const SwitchOff& one : plan.switch_offs) out.push_back(one.host.value);
  return out;
}
inline std::vector<std::uint64_t> drained(const Plan& plan) {
  std::vector<std::uint64_t> out;
  for (const Drain& one : plan.drains) out.push_back(one.host.value);
  return out;
}
inline bool does_nothing(const Plan& plan) {
  return plan.creates.empty() && plan.wakes.empty() && plan.switch_offs.empty() &&
         plan.shutdowns.empty() && plan.drains.empty();
}

}  // namespace hostler::scheduler
