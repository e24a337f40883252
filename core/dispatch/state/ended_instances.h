#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <tuple>

#include "core/base/time.h"
#include "core/model/records.h"

namespace hostler::dispatch {

/// Instances that were destroyed lately: a list that shows one of them is old, or its destroy had
/// no effect. A restart forgets them.
class EndedInstances {
 public:
  static constexpr Duration kRemembered = std::chrono::hours(24);
  static constexpr std::size_t kMax = 10'000;  ///< More push out the oldest.

  /// The instance is gone. One that the cloud never showed is ignored.
  void add(const model::InstanceRecord& record, Mono now);
  /// The instance that the listed one was: the same set, cloud id and key.
  [[nodiscard]] std::optional<model::InstanceId> find(const std::string& set,
                                                      const model::ListedInstance& seen) const;

 private:
  using Key = std::tuple<std::string, std::string, std::string>;  ///< Set, cloud id, key.
  struct Entry {
    Mono since;
    Key key;
    model::InstanceId id;
  };
  void forget_oldest();

  std::deque<Entry> entries_;  ///< By time.
  std::map<Key, model::InstanceId> ids_;
};

}  // namespace hostler::dispatch
