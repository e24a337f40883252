#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/base/random.h"
#include "core/dispatch/effects.h"
#include "core/dispatch/events.h"
#include "core/model/policy.h"
#include "tests/sim/cloud.h"
#include "tests/sim/day.h"
#include "tests/sim/disk.h"

namespace hostler::sim {

/// The disks of a cloud's machines, on one day in five. Half of them outlive their machine, and the
/// daemon is to destroy those. While there are faults, lists are late, refused, empty, halved,
/// doubled or huge, and show disks of machines that exist, of another owner, of another set and of
/// a later epoch. Its choices are apart from all others, so that days without it are as they were.
///
/// Checks that no other disk is destroyed, and none before its intent is durable, or that the
/// daemon has not seen in two lists, minutes apart.
class LeftoverCloud {
 public:
  using Complain = std::function<void(const std::string&)>;
  using Reply = std::function<void(Duration, dispatch::Event)>;

  LeftoverCloud(std::uint64_t seed, const Cloud& cloud, const Disk& disk, Complain complain)
      : cloud_(cloud), disk_(disk), complain_(std::move(complain)), random_(seed ^ 0xd15c) {}
  static bool is_of(std::uint64_t seed) { return seed % 5 == 1; }

  static void set_rule(model::SitePolicy& policy);
  void list(const dispatch::LeftoversCall& call, bool faults, const Reply& reply);
  void destroy(const dispatch::DestroyLeftoverCall& call, bool faults, Mono now,
               const Reply& reply);

  /// The daemon gets the answer to a list.
  void heard(const dispatch::LeftoversListed& answer, Mono now);
  /// The daemon gets the answer to a destroy.
  void heard(const dispatch::LeftoverDestroyed&) { --under_way_; }
  void daemon_started() {
    seen_since_.clear();
    under_way_ = 0;
  }
  /// Disks of the set that have outlived their machines.
  [[nodiscard]] std::size_t left();

 private:
  struct Thing {
    const Machine* machine = nullptr;
    bool exists = true, outlives = false, names_id = false, names_key = false;
  };
  void follow_machines();
  [[nodiscard]] model::Leftover show(const std::string& id, const Thing& thing) const;
  void lie(std::vector<model::Leftover>& list);

  const Cloud& cloud_;
  const Disk& disk_;
  const Complain complain_;
  Random random_;
  std::map<std::string, Thing> things_;
  std::size_t machines_ = 0;                ///< That have a disk, or have none.
  std::map<std::string, Mono> seen_since_;  ///< By the daemon, in every list since then.
  int under_way_ = 0;
};

}  // namespace hostler::sim
