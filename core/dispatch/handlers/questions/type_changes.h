#pragma once

#include <set>
#include <string>
#include <vector>

#include "core/dispatch/state/boot_gates.h"
#include "core/dispatch/state/hosts.h"
#include "core/dispatch/state/menu.h"
#include "core/dispatch/state/plan_state.h"
#include "core/dispatch/state/questions/offered_types.h"
#include "core/dispatch/state/questions/type_selection.h"
#include "core/dispatch/state/recorder.h"
#include "core/dispatch/state/sets.h"

namespace hostler::dispatch {

/// Makes the policy that holds: the configured one, with the types that pools choose of what is
/// offered. A host whose type left is treated as after a reload without this type.
class TypeChanges {
 public:
  TypeChanges(const model::SitePolicy& configured, EffectivePolicy& effective,
              OfferedTypes& offered, Sets& sets, Hosts& hosts, Menu& menu, BootGates& boots,
              PlanState& plan, Recorder& recorder)
      : configured_(configured),
        effective_(effective),
        offered_(offered),
        sets_(sets),
        hosts_(hosts),
        menu_(menu),
        boots_(boots),
        plan_(plan),
        recorder_(recorder) {}

  /// Before all else is restored: a restart knows the types of its hosts. Hosts in `restored`
  /// follow the new names of their types.
  void restore(model::Restored& restored, Now now);
  /// After all else is restored.
  void restored();
  /// The configuration was replaced, and whoever replaced it tells the owners.
  void reload(Now now);
  /// Other types are offered than before, or at other prices.
  void refresh(Now now);

  /// The names of the types that hosts have. O(hosts).
  [[nodiscard]] std::set<std::string> in_use() const;

 private:
  /// Gives new types their names.
  void settle_names();

  const model::SitePolicy& configured_;
  EffectivePolicy& effective_;
  OfferedTypes& offered_;
  Sets& sets_;
  Hosts& hosts_;
  Menu& menu_;
  BootGates& boots_;
  PlanState& plan_;
  Recorder& recorder_;
  // Changes of restore(), until the recorder has its last revision.
  std::vector<model::Change> changes_;
  std::vector<model::InstanceId> moved_;
};

}  // namespace hostler::dispatch
