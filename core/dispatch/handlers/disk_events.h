#pragma once

#include "core/dispatch/events.h"
#include "core/dispatch/state/hosts.h"
#include "core/dispatch/state/recorder.h"

namespace hostler::dispatch {

/// The disk of the state folder is full, or has no room for output that waits on its hosts; or it
/// has room again. The store refuses what has to wait; this handler tells of it, and of its cost.
class DiskEvents {
 public:
  DiskEvents(Hosts& hosts, Recorder& recorder) : hosts_(hosts), recorder_(recorder) {}

  void on(const DiskChanged& event, Now now);
  /// Output of a host waits for room.
  void output_waits(Now now) { tell(true, now); }
  /// Looks whether any still does.
  void fire_due(Now now);

 private:
  [[nodiscard]] bool has_no_room() const;
  void tell(bool full, Now now);

  Hosts& hosts_;
  Recorder& recorder_;
  bool is_full_ = false;  ///< Only rows are written.
  bool told_ = false;     ///< That it is full, or output waits for room.
  Mono look_at_;
};

}  // namespace hostler::dispatch
