#include "core/daemon/succession.h"

#include <algorithm>
#include <utility>

#include "core/base/assert.h"

namespace hostler::daemon {

Succession::Number Succession::add_successor() {
  if (successor_) retired_.push_back(*successor_);
  successor_ = ++last_;
  return last_;
}

Succession::Number Succession::replace() {
  if (auto dropped = std::exchange(successor_, std::nullopt)) retired_.push_back(*dropped);
  HOSTLER_ASSERT(opened_.empty(), "a driver that was opened is taken into use before another");
  retired_.push_back(std::exchange(in_use_, ++last_));
  return in_use_;
}

bool Succession::opened(Number driver) {
  if (successor_ != driver) return false;
  successor_.reset();
  opened_.push_back(driver);
  return true;
}

void Succession::drop(Number driver) {
  if (successor_ != driver) return;
  successor_.reset();
  retired_.push_back(driver);
}

void Succession::take_over(Number driver) {
  HOSTLER_ASSERT(std::ranges::find(opened_, driver) != opened_.end(),
                 "only a driver that was opened, and once, is taken into use");
  retired_.push_back(in_use_);
  in_use_ = driver;
  std::erase_if(opened_, [&](Number one) {
    if (one < driver) retired_.push_back(one);
    return one <= driver;
  });
}

void Succession::end_use(Number driver) {
  const auto found = uses_.find(driver);
  HOSTLER_ASSERT(found != uses_.end(), "each use ends once");
  if (--found->second == 0) uses_.erase(found);
}

std::vector<Succession::Number> Succession::take_closable() {
  std::vector<Number> out;
  std::erase_if(retired_, [&](Number driver) {
    const bool idle = !uses_.contains(driver);
    if (idle) out.push_back(driver);
    return idle;
  });
  return out;
}

}  // namespace hostler::daemon
