#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/dispatch/state/least_reports.h"
#include "core/fleet/host_cards.h"
#include "core/model/card.h"
#include "core/model/policy.h"
#include "core/model/records.h"

namespace hostler::dispatch {

/// The fewest cards that hosts of each set and type have listed, of each group of the menu; without
/// groups, of the kind of which a host has most, since work gets cards of one kind. A card with a
/// problem counts: it is of its host, not of the type.
class GpuReports {
 public:
  struct Expected {
    std::int32_t count = 0;  ///< Of all groups.
    model::GpuGroups groups;
  };

  void restore(const model::GpuReport& report);
  /// A proved host lists its cards. Returns the reports for the journal if plans count with other
  /// numbers now. Nothing is learned of a group of which it lists none, nor of a host that lists
  /// none of its type: the menu names them otherwise.
  [[nodiscard]] std::vector<model::GpuReport> take(const std::string& set,
                                                   const model::InstanceType& type,
                                                   model::InstanceId host,
                                                   const std::vector<model::Card>& cards);
  /// The same host: if none of its cards is of a group of the type, new hosts are expected to have
  /// its groups, so that no plan makes hosts for a kind that none of them lists. A restart forgets
  /// it. True: plans count with other groups now.
  [[nodiscard]] bool take_kinds(const std::string& set, const model::InstanceType& type,
                                const fleet::HostCards& cards);
  /// What a new host of the type has: never more than the menu says.
  [[nodiscard]] Expected expected(const std::string& set, const model::InstanceType& type) const;
  /// The policy was replaced: see LeastReports. Returns what is forgotten, for the journal.
  [[nodiscard]] std::vector<model::GpuForgotten> settle(const model::SitePolicy& policy);

 private:
  /// Set, type, kind and memory.
  using Key = std::tuple<std::string, std::string, std::string, std::int64_t>;

  /// In place of the groups on the menu, while it has these.
  struct OwnGroups {
    model::GpuGroups menu, own;
    friend bool operator==(const OwnGroups&, const OwnGroups&) = default;
  };

  LeastReports<Key> reports_;
  std::map<std::pair<std::string, std::string>, OwnGroups> own_;  ///< By set and type.
};

}  // namespace hostler::dispatch
