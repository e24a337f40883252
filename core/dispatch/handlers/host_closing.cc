#include "core/dispatch/handlers/host_closing.h"

#include <vector>

#include "core/scheduler/beyond_max.h"

namespace hostler::dispatch {

std::string HostClosing::close_hosts(Now now) {
  hosts_.refresh_views(viewer_);
  const auto& views = hosts_.views();
  const auto bounds = bounds_.numbers(policy_, hosts_, set_aside_);
  // The next plan knows what waits.
  const auto closed =
      scheduler::closed_hosts(views, bounds, set_aside_.count_pools(policy_), {}, policy_,
                              {.now = now.mono, .offerings = &menu_.offerings()});
  std::vector<scheduler::Close> out;
  for (std::size_t h = 0; h < views.size(); ++h)
    if (closed[h] != scheduler::Closed::kNo) out.push_back({views[h].id, closed[h]});
  std::string text = scheduler::text_of(views, closed, policy_, bounds);
  hosts_.close(out);
  return text;
}

}  // namespace hostler::dispatch
