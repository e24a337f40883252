#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/model/ids.h"

namespace hostler::dispatch {

/// What the hosts of each set and type have reported of their scratch. If the last three of a type
/// have less than the configuration says, a new one will have no more either, and is not bought for
/// work that needs more. A single host may lie, or have a disk of its own.
class ScratchReports {
 public:
  /// A host says how much it has. True: expected() may have changed.
  bool take(std::uint32_t set, const std::string& type, model::InstanceId host, std::int64_t bytes);
  /// What a new host has, of a type that has `configured` bytes: never more than that.
  [[nodiscard]] std::int64_t expected(std::uint32_t set, const std::string& type,
                                      std::int64_t configured) const;
  /// The configuration was read again: it may be right now.
  void clear() { of_types_.clear(); }

 private:
  struct Report {
    model::InstanceId host;
    std::int64_t bytes = 0;
  };
  std::map<std::pair<std::uint32_t, std::string>, std::vector<Report>> of_types_;
};

}  // namespace hostler::dispatch
