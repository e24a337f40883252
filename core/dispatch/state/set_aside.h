#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/model/policy.h"
#include "core/model/records.h"
#include "core/scheduler/governor.h"

namespace hostler::dispatch {

/// Instances whose row in the store is damaged. Their machines may exist, so they count for
/// ceilings; nothing is done to them until an admin has corrected the row.
class SetAside {
 public:
  /// Only rows that stand for an instance are kept. Their values may be anything.
  void add(const model::DamagedRow& row);
  /// Adds them to a new governor's account. An instance whose set or pool is not in the policy
  /// counts for the site alone.
  void count(const model::SitePolicy& policy, scheduler::Governor& governor) const;
  /// The listed machine is one of them.
  [[nodiscard]] bool contains(const std::string& set, const model::ListedInstance& seen) const;
  [[nodiscard]] bool empty() const { return records_.empty(); }

 private:
  std::vector<model::InstanceRecord> records_;
};

}  // namespace hostler::dispatch
