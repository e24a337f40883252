#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "core/base/random.h"
#include "core/dispatch/dispatcher.h"
#include "tests/sim/day.h"
#include "tests/sim/disk.h"

namespace hostler::sim {

/// A crowd, on one day in six: for a while lists show far more machines with the tags of the set
/// than its pool may have, and nobody has made them. An admin believes the list on some of these
/// days. Its choices are apart from all others.
///
/// Checks that none of them is adopted before that, and no more at once than a slice, and that
/// nothing is created meanwhile.
class CrowdCloud {
 public:
  /// Of all days: a crowd is larger than what is doubted.
  static constexpr dispatch::AdoptionLimits kLimits{
      .slice = 3, .taken = 4, .doubted = 12, .per_max = 2};

  CrowdCloud(std::uint64_t seed, bool may_be_believed, Disk::Complain complain)
      : complain_(std::move(complain)), random_(seed ^ 0xc0d), may_believe_(may_be_believed) {}
  static bool is_of(std::uint64_t seed) { return seed % 6 == 2; }

  /// From now on until leave() lists show the crowd.
  void gather(std::int32_t max);
  void leave() { count_ = 0; }
  [[nodiscard]] Duration between(Duration low, Duration high);
  void show(std::vector<model::ListedInstance>& list) const;
  [[nodiscard]] bool is_there() const { return count_ > 0; }

  void daemon_started() { heard_ = false; }
  /// The daemon has taken the answer to a list.
  void heard(const dispatch::SetListed& answer, const dispatch::Queries& queries);
  /// What the admin believes now; unset: nothing.
  [[nodiscard]] std::optional<dispatch::BelieveList> believe(const dispatch::Queries& queries);
  /// What the daemon has decided, before it is durable.
  void check(const dispatch::Outbox& outbox);

 private:
  void check(const model::InstanceRecord& record, std::size_t& adopted);

  const Disk::Complain complain_;
  Random random_;
  const bool may_believe_;
  std::uint64_t crowds_ = 0, count_ = 0;
  bool heard_ = false;  ///< By the daemon that runs.
  bool believed_ = false;
  std::set<model::InstanceId> adopted_;
};

}  // namespace hostler::sim
