#pragma once

#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>

#include "core/model/records.h"

namespace hostler::dispatch {

/// Recognises instances in a cloud's lists: by the idempotency key of their create, or by their
/// cloud id where they have no key.
class InstanceKeys {
 public:
  void add(const model::InstanceRecord& record);
  /// Keys that name another instance by now stay.
  void remove(const model::InstanceRecord& record);
  /// The instance that the listed one is, by its id, its request's id or its key.
  [[nodiscard]] std::optional<model::InstanceId> find(const std::string& set,
                                                      const model::ListedInstance& seen) const;

 private:
  std::unordered_map<std::string, model::InstanceId> by_key_;  ///< Of all sets.
  std::map<std::tuple<std::string, std::string>, model::InstanceId, std::less<>>
      by_cloud_id_;  ///< By set and cloud id; instances without a key.
};

}  // namespace hostler::dispatch
