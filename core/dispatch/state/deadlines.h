#pragma once

#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "core/base/time.h"
#include "core/fleet/instance.h"
#include "core/model/ids.h"

namespace hostler::dispatch {

/// One deadline for each instance, by time. O(log instances) a call.
class Deadlines {
 public:
  /// Replaces the instance's deadline; fleet::kNever removes it.
  void set(model::InstanceId id, Mono deadline);
  void remove(model::InstanceId id) { set(id, fleet::kNever); }
  /// Takes out the instance whose deadline has passed first.
  std::optional<model::InstanceId> pop_due(Mono now);
  /// Of all instances that have one, by id.
  [[nodiscard]] std::vector<model::InstanceId> ids() const {
    std::vector<model::InstanceId> out;
    for (const auto& [id, at] : by_id_) out.push_back(id);
    return out;
  }
  /// fleet::kNever if there is none.
  [[nodiscard]] Mono next() const {
    return by_time_.empty() ? fleet::kNever : by_time_.begin()->first;
  }

 private:
  std::set<std::pair<Mono, model::InstanceId>> by_time_;
  std::map<model::InstanceId, Mono> by_id_;
};

}  // namespace hostler::dispatch
