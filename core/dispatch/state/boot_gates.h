#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/dispatch/state/call_gates.h"
#include "core/dispatch/state/menu.h"
#include "core/gates/boots.h"

namespace hostler::dispatch {

/// Watches how new hosts come up, and holds back creates of kinds that do not: boot gates, which
/// are gates of CallGates. While one is half-open, one create passes until its host has come up or
/// not.
class BootGates {
 public:
  /// The others outlive it.
  BootGates(const model::SitePolicy& policy, const Menu& menu, CallGates& gates)
      : policy_(policy), menu_(menu), gates_(gates), settings_(settings_of(policy)) {}

  /// The host may have changed its state. Its boot counts once. True: it has failed just now.
  bool look(Host& host, Now now);
  /// A host of the journal. One that is still to come up may be the one that probes a gate.
  void restore(Host& host, Now now);
  /// The create of the host's kind.
  [[nodiscard]] gates::GateQuery query(const Host& host) const;
  /// Pools choose other types now, of what is offered: their hosts boot as they did.
  void types_changed() { settings_ = settings_of(policy_); }
  /// The policy has changed: gates open where it changes how hosts boot.
  void reloaded(Now now);

 private:
  /// What a boot depends on: of each pool and of each type, by name.
  struct Settings {
    std::vector<std::pair<std::string, std::string>> pools, types;
  };
  static Settings settings_of(const model::SitePolicy& policy);
  void reclaimed(const Host& host, Now now);
  void was_short(const Host& host, Now now);

  const model::SitePolicy& policy_;
  const Menu& menu_;
  CallGates& gates_;
  gates::BootHistory history_;
  Settings settings_;
  Mono changed_at_ = Mono::min();  ///< The settings; failures of earlier hosts say nothing now.
};

}  // namespace hostler::dispatch
