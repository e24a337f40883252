#pragma once

#include "core/dispatch/events.h"
#include "core/dispatch/state/hosts.h"
#include "core/dispatch/state/recorder.h"

namespace hostler::dispatch {

/// The disk of the state folder is full, or has room again. The store refuses what has to wait;
/// this handler tells of it, and of its cost.
class DiskEvents {
 public:
  DiskEvents(Hosts& hosts, Recorder& recorder) : hosts_(hosts), recorder_(recorder) {}

  void on(const DiskChanged& event, Now now);

 private:
  Hosts& hosts_;
  Recorder& recorder_;
};

}  // namespace hostler::dispatch
