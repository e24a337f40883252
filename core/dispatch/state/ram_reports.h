#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/model/policy.h"
#include "core/model/records.h"

namespace hostler::dispatch {

/// The least RAM that hosts of each set and type have reported: a new host may have no more, so
/// plans count with it. What was reported while the menu had another RAM for the type is not used.
class RamReports {
 public:
  static constexpr std::size_t kReportsMax = 10'000;  ///< Of further types nothing is learned.

  /// Less than half of the menu's RAM: such a host is broken, and nothing is learned of it.
  [[nodiscard]] static bool is_too_little(const model::InstanceType& type, std::int64_t ram) {
    return ram < type.resources.ram - type.resources.ram / 2;
  }
  void restore(model::RamReport report);
  /// A proved host says how much it has. Returns the report for the journal if plans count with
  /// another number now: it is the least; or ten hosts in a row had more, so that one odd host does
  /// not decide for ever.
  [[nodiscard]] std::optional<model::RamReport> take(const std::string& set,
                                                     const model::InstanceType& type,
                                                     model::InstanceId host, std::int64_t ram);
  /// What a new host of the type has: never more than the menu says.
  [[nodiscard]] std::int64_t expected(const std::string& set,
                                      const model::InstanceType& type) const;
  /// The policy was replaced: forgets the reports for types whose RAM on the menu has changed, and
  /// if there is no place for more, those for types that are on no menu. Returns them for the
  /// journal.
  [[nodiscard]] std::vector<model::RamForgotten> settle(const model::SitePolicy& policy);

 private:
  /// Hosts that had more, since one had no more.
  struct More {
    std::set<model::InstanceId> hosts;
    std::int64_t least = INT64_MAX;
  };
  std::optional<std::int64_t> raised(const std::pair<std::string, std::string>& key,
                                     model::InstanceId host, std::int64_t ram);

  std::map<std::pair<std::string, std::string>, model::RamReport> reports_;  ///< By set and type.
  std::map<std::pair<std::string, std::string>, More> more_;                 ///< Likewise.
};

}  // namespace hostler::dispatch
