#pragma once

#include <functional>
#include <set>

#include "core/base/random.h"
#include "core/dispatch/events.h"
#include "tests/sim/cloud.h"

namespace hostler::sim {

/// The consoles of machines, on two days in five. They are told soon, late, never, or not at all.
class Consoles {
 public:
  /// `seed`: of its choices, which are apart from all others.
  Consoles(std::uint64_t seed, Disk::Complain complain)
      : complain_(std::move(complain)), random_(seed ^ 0xc0501e), exist_(random_.chance(0.4)) {}

  [[nodiscard]] bool exist() const { return exist_; }
  /// A daemon starts, which does not know what the one before has asked.
  void restart() { asked_.clear(), destroyed_.clear(); }
  void read(const dispatch::ConsoleCall& call, bool faults, const Cloud::Reply& reply);
  /// Its destroy was sent.
  void destroyed(model::InstanceId instance) { destroyed_.insert(instance); }

 private:
  Disk::Complain complain_;
  Random random_;
  const bool exist_;
  std::set<model::InstanceId> asked_, destroyed_;
};

}  // namespace hostler::sim
