#include "core/dispatch/handlers/disk_events.h"

#include <string>
#include <utility>

#include "core/base/units.h"

namespace hostler::dispatch {
namespace {

/// Looking at all hosts takes a while where there are many.
constexpr Duration kLook = std::chrono::seconds(2);

}  // namespace

void DiskEvents::on(const DiskChanged& event, Now now) {
  is_full_ = event.full;
  tell(has_no_room(), now);
}

void DiskEvents::fire_due(Now now) {
  if (!told_ || now.mono < look_at_) return;
  look_at_ = now.mono + kLook;
  tell(has_no_room(), now);
}

bool DiskEvents::has_no_room() const { return is_full_ || collecting(hosts_).waiting_jobs > 0; }

void DiskEvents::tell(bool full, Now now) {
  if (std::exchange(told_, full) == full) return;
  if (full) {
    const CollectingHosts waiting = collecting(hosts_);
    recorder_.record("store", "site", model::Event::kDiskFull, "",
                     std::string(is_full_ ? "submits and uploads are refused, and output waits"
                                          : "there is no room for output, which waits") +
                         " on its hosts, of which " + std::to_string(waiting.hosts) + " cost " +
                         format_money(waiting.price_per_hour.value) + " per hour now",
                     now);
  } else {
    recorder_.record("store", "site", model::Event::kDiskHasRoom, "", "", now);
  }
}

}  // namespace hostler::dispatch
