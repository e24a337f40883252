#pragma once

#include <string>

#include "core/dispatch/state/host_viewer.h"
#include "core/dispatch/state/hosts.h"
#include "core/dispatch/state/menu.h"
#include "core/dispatch/state/pool_bounds.h"
#include "core/dispatch/state/set_aside.h"

namespace hostler::dispatch {

/// Closes hosts when the policy has changed.
class HostClosing {
 public:
  HostClosing(const model::SitePolicy& policy, Hosts& hosts, const SetAside& set_aside,
              const PoolBounds& bounds, const Menu& menu, const HostViewer& viewer)
      : policy_(policy),
        hosts_(hosts),
        set_aside_(set_aside),
        bounds_(bounds),
        menu_(menu),
        viewer_(viewer) {}

  /// Closes the hosts that the policy no longer has room for, before a plan does so: none gets a
  /// new job meanwhile. Returns a text for people that counts them by pool; empty: there are none.
  std::string close_hosts(Now now);

 private:
  const model::SitePolicy& policy_;
  Hosts& hosts_;
  const SetAside& set_aside_;
  const PoolBounds& bounds_;
  const Menu& menu_;
  const HostViewer& viewer_;
};

}  // namespace hostler::dispatch
