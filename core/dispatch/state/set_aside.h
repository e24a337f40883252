#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "core/gates/governor.h"
#include "core/model/policy.h"
#include "core/model/records.h"

namespace hostler::dispatch {

/// Instances and work whose row in the store is damaged. A machine may exist, so it counts for
/// ceilings and for its pool's maximum; an attempt may run, so its host goes on with it. Nothing is
/// done to them until an admin has corrected the row.
class SetAside {
 public:
  /// A row of another table than sets. Its values may be anything.
  void add(const model::DamagedRow& row);
  /// Adds them to a new governor's account. An instance whose set or pool is not in the policy
  /// counts for the site alone.
  void count(const model::SitePolicy& policy, gates::Governor& governor) const;
  /// The listed machine is one of them.
  [[nodiscard]] bool contains(const std::string& set, const model::ListedInstance& seen) const;
  [[nodiscard]] bool contains(model::WorkId work) const { return work_.contains(work.value); }
  /// Instances of each pool of the policy.
  [[nodiscard]] std::vector<std::int64_t> count_pools(const model::SitePolicy& policy) const;
  [[nodiscard]] const std::vector<model::InstanceRecord>& instances() const { return records_; }
  /// Of one of them neither a cloud id nor a key can be read: it may be any instance.
  [[nodiscard]] bool has_nameless_instance() const;
  [[nodiscard]] bool has_no_instances() const { return records_.empty(); }

 private:
  std::vector<model::InstanceRecord> records_;
  std::set<std::uint64_t> work_;  ///< Numbers: the kind may be damaged.
};

}  // namespace hostler::dispatch
