#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/dispatch/state/hosts.h"
#include "core/dispatch/state/set_aside.h"
#include "core/dispatch/state/sets.h"
#include "core/model/cloud_records.h"
#include "core/model/policy.h"

namespace hostler::dispatch {

/// A thing of the cloud: both together name it.
struct ThingName {
  std::string type, id;
  friend auto operator<=>(const ThingName&, const ThingName&) = default;
};

/// "disk d-1", fit to print.
[[nodiscard]] std::string to_string(const ThingName& name);

/// A thing with our tags whose instance is not known here.
struct Thing {
  std::string instance_id, key;  ///< Of its instance; both empty: nobody knows whose it is.
  Wall created;                  ///< 0: not known.
  Mono first;                    ///< When the answer came that was the first to show it so.
  Wall since;                    ///< The same on the other clock.
  bool confirmed = false;        ///< A list that was sent much later shows it, too.
  // Its destroys.
  bool destroying = false;  ///< A call is under way.
  std::uint32_t tries = 0;
  Mono next_try{};
  std::string error;  ///< Of the last one.
};

/// Ids and keys of instances that are known here, in any state.
struct KnownInstances {
  std::set<std::string, std::less<>> ids, keys;
  [[nodiscard]] bool has(const std::string& id, const std::string& key) const {
    return (!id.empty() && ids.contains(id)) || (!key.empty() && keys.contains(key));
  }
};

/// What outlived its instance in one set.
struct SetLeftovers {
  std::map<ThingName, Thing> things;
  std::size_t destroying = 0;  ///< Calls under way.
  // Lists of things.
  Mono answered{};    ///< The last complete list.
  Wall listed;        ///< The same on the other clock; 0: none yet.
  std::string error;  ///< Why the last one failed; empty: it did not.
  /// When the last complete list of instances was sent that nobody doubts.
  std::optional<Mono> instances_listed;
  Mono look_at = fleet::kNever;  ///< Then a destroy may be due.
};

/// What a list of things shows of ours: tags of this owner and set, of no later epoch, and an
/// instance that is not known. A thing that it shows twice, and differently, is left out.
[[nodiscard]] std::map<ThingName, Thing> things_of(const std::vector<model::Leftover>& list,
                                                   const std::string& owner, std::uint64_t epoch,
                                                   const std::string& set,
                                                   const KnownInstances& known, Now now);

/// All instances that are known here, in whatever state: ids of the set, and keys of every set.
[[nodiscard]] KnownInstances known_instances(const std::string& set, const Hosts& hosts,
                                             const SetAside& set_aside);

/// Things that outlived their instances, of each set.
class Leftovers {
 public:
  explicit Leftovers(const model::SitePolicy& policy)
      : policy_(policy), by_set_(policy.sets.size()) {}

  [[nodiscard]] SetLeftovers& of(std::uint32_t set) { return by_set_.at(set); }
  [[nodiscard]] const SetLeftovers& of(std::uint32_t set) const { return by_set_.at(set); }
  /// When a destroy may be due.
  [[nodiscard]] Mono next_wake(const Sets& sets) const;
  /// The same of one set.
  [[nodiscard]] Mono next_wake(const Sets& sets, std::uint32_t set) const;

 private:
  const model::SitePolicy& policy_;
  std::vector<SetLeftovers> by_set_;
};

}  // namespace hostler::dispatch
