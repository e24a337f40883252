#pragma once

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "core/dispatch/state/least_reports.h"
#include "core/model/card.h"
#include "core/model/policy.h"
#include "core/model/records.h"

namespace hostler::dispatch {

/// The fewest cards that hosts of each set and type have listed, of each group of the menu. A card
/// with a problem counts: it is of its host, not of the type.
class GpuReports {
 public:
  struct Expected {
    std::int32_t count = 0;  ///< Of all groups.
    model::GpuGroups groups;
  };

  void restore(const model::GpuReport& report);
  /// A proved host lists its cards. Returns the reports for the journal if plans count with other
  /// numbers now. Nothing is learned of a group of which it lists none, nor of a host that lists
  /// none of its type: it is broken.
  [[nodiscard]] std::vector<model::GpuReport> take(const std::string& set,
                                                   const model::InstanceType& type,
                                                   model::InstanceId host,
                                                   const std::vector<model::Card>& cards);
  /// What a new host of the type has: never more than the menu says.
  [[nodiscard]] Expected expected(const std::string& set, const model::InstanceType& type) const;
  /// The policy was replaced: see LeastReports. Returns what is forgotten, for the journal.
  [[nodiscard]] std::vector<model::GpuForgotten> settle(const model::SitePolicy& policy);

 private:
  /// Set, type, kind and memory.
  using Key = std::tuple<std::string, std::string, std::string, std::int64_t>;

  LeastReports<Key> reports_;
};

}  // namespace hostler::dispatch
