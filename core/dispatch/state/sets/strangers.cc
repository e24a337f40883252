#include "core/dispatch/state/sets/strangers.h"

#include <utility>

#include "core/base/assert.h"

namespace hostler::dispatch {

std::string Strangers::refuses_creates(const std::string& set) const {
  if (left().empty()) return {};
  const std::string all = std::to_string(list_.strangers.size());
  if (is_doubted())
    return "the last list shows " + all +
           " instances that hostlerd does not know, far more than its pools may have: none of them "
           "is adopted or destroyed; see hostler sets believe " +
           set;
  return "of " + all + " instances that hostlerd did not know " + std::to_string(left().size()) +
         " are still to be adopted";
}

void Strangers::count(std::uint32_t set, gates::Governor& governor) const {
  for (const Stranger& one : left()) governor.added(set, one.pool, one.price_per_hour);
}

StrangeList Strangers::take(StrangeList list, bool many, Now now) {
  HOSTLER_ASSERT(!is_adopting(), "a list waits until the one before is done");
  adopted_ = 0;
  if (!many) believed_ = 0;
  if (!many || list.strangers.size() <= believed_)
    doubted_since_.reset();
  else if (!doubted_since_)
    doubted_since_ = now.wall;
  next_ = now.mono;
  return std::exchange(list_, std::move(list));
}

void Strangers::believe(Mono now) {
  HOSTLER_ASSERT(is_doubted(), "only a doubted list is to be believed");
  doubted_since_.reset();
  believed_ = list_.strangers.size();
  next_ = now;
}

StrangeList Strangers::end() {
  doubted_since_.reset();
  adopted_ = 0;
  return std::exchange(list_, {});
}

}  // namespace hostler::dispatch
