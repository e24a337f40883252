#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <utility>

#include "core/base/time.h"

namespace hostler::simulation {

using namespace std::chrono_literals;

/// Virtual time: events in the order of time; events of the same time in the order in which they
/// were added.
class Timeline {
 public:
  [[nodiscard]] Mono now() const { return now_; }
  void after(Duration delay, std::function<void()> run) { at(now_ + delay, std::move(run)); }
  void at(Mono when, std::function<void()> run) {
    events_.emplace(std::pair(when < now_ ? now_ : when, sequence_++), std::move(run));
  }
  /// When the next event is; Mono::max(): never.
  [[nodiscard]] Mono next() const {
    return events_.empty() ? Mono::max() : events_.begin()->first.first;
  }
  bool step() {
    if (events_.empty()) return false;
    auto node = events_.extract(events_.begin());
    now_ = node.key().first;
    node.mapped()();
    return true;
  }

 private:
  Mono now_{24h};
  std::uint64_t sequence_ = 0;
  std::map<std::pair<Mono, std::uint64_t>, std::function<void()>> events_;
};

}  // namespace hostler::simulation
