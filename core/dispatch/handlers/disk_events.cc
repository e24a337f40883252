#include "core/dispatch/handlers/disk_events.h"

#include <string>

#include "core/base/units.h"

namespace hostler::dispatch {

void DiskEvents::on(const DiskChanged& event, Now now) {
  if (event.full) {
    const CollectingHosts waiting = collecting(hosts_);
    recorder_.record("store", "site", model::Event::kDiskFull, "",
                     "submits and uploads are refused, and output waits on its hosts, of which " +
                         std::to_string(waiting.hosts) + " cost " +
                         format_money(waiting.price_per_hour.value) + " per hour now",
                     now);
  } else {
    recorder_.record("store", "site", model::Event::kDiskHasRoom, "", "", now);
  }
}

}  // namespace hostler::dispatch
