#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/dispatch/state/least_reports.h"
#include "core/model/policy.h"
#include "core/model/records.h"

namespace hostler::dispatch {

/// The least RAM that hosts of each set and type have reported.
class RamReports {
 public:
  using Key = std::pair<std::string, std::string>;  ///< Set and type.
  static constexpr std::size_t kReportsMax = LeastReports<Key>::kReportsMax;

  /// Less than half of the menu's RAM: such a host is broken, and nothing is learned of it.
  [[nodiscard]] static bool is_too_little(const model::InstanceType& type, std::int64_t ram) {
    return ram < type.resources.ram - type.resources.ram / 2;
  }
  void restore(const model::RamReport& report);
  /// A proved host says how much it has. Returns the report for the journal if plans count with
  /// another number now.
  [[nodiscard]] std::optional<model::RamReport> take(const std::string& set,
                                                     const model::InstanceType& type,
                                                     model::InstanceId host, std::int64_t ram);
  /// What a new host of the type has: never more than the menu says.
  [[nodiscard]] std::int64_t expected(const std::string& set,
                                      const model::InstanceType& type) const;
  /// The policy was replaced: see LeastReports. Returns what is forgotten, for the journal.
  [[nodiscard]] std::vector<model::RamForgotten> settle(const model::SitePolicy& policy);

 private:
  LeastReports<Key> reports_;
};

}  // namespace hostler::dispatch
