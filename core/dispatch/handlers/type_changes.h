#pragma once

#include <set>
#include <string>
#include <vector>

#include "core/dispatch/state/hosts.h"
#include "core/dispatch/state/menu.h"
#include "core/dispatch/state/offered_types.h"
#include "core/dispatch/state/plan_state.h"
#include "core/dispatch/state/recorder.h"
#include "core/dispatch/state/sets.h"
#include "core/dispatch/state/type_selection.h"

namespace hostler::dispatch {

/// Makes the policy that holds: the configured one, with the types that pools choose of what is
/// offered. A host whose type left is treated as after a reload without this type.
class TypeChanges {
 public:
  TypeChanges(const model::SitePolicy& configured, EffectivePolicy& effective,
              OfferedTypes& offered, Sets& sets, Hosts& hosts, Menu& menu, PlanState& plan,
              Recorder& recorder)
      : configured_(configured),
        effective_(effective),
        offered_(offered),
        sets_(sets),
        hosts_(hosts),
        menu_(menu),
        plan_(plan),
        recorder_(recorder) {}

  /// Before all else is restored: a restart knows the types of its hosts.
  void restore(const model::Restored& restored);
  /// After all else is restored.
  void restored();
  /// The configuration was replaced, and whoever replaced it tells the owners.
  void reload();
  /// Other types are offered than before, or at other prices.
  void refresh(Now now);

  /// The names of the types that hosts have. O(hosts).
  [[nodiscard]] std::set<std::string> in_use() const;

 private:
  void journal_names();

  const model::SitePolicy& configured_;
  EffectivePolicy& effective_;
  OfferedTypes& offered_;
  Sets& sets_;
  Hosts& hosts_;
  Menu& menu_;
  PlanState& plan_;
  Recorder& recorder_;
  std::vector<model::OfferedRow> renamed_;  ///< By restore().
};

}  // namespace hostler::dispatch
