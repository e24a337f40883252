#pragma once

#include <string>
#include <vector>

#include "core/dispatch/events.h"
#include "core/dispatch/handlers/interruptions.h"
#include "core/dispatch/state/call_gates.h"
#include "core/dispatch/state/questions/watches.h"

namespace hostler::dispatch {

/// Keeps a watch for interruptions open at each set whose driver has one: a call that lasts for
/// some minutes, and is made again when it ends; after failures, with a pause that grows.
class NoticeWatches {
 public:
  NoticeWatches(Sets& sets, Watches& watches, Hosts& hosts, CallGates& gates, Recorder& recorder,
                Interruptions& interruptions)
      : sets_(sets),
        watches_(watches),
        hosts_(hosts),
        gates_(gates),
        recorder_(recorder),
        interruptions_(interruptions) {}

  void send_due(std::uint32_t set, Now now);
  void on(const NoticesSeen& event, Now now);
  void on(const WatchEnded& event, Now now);
  /// The set uses another driver, which gets a watch of its own. What the watch of the driver
  /// before still reports is ignored.
  void on(const SuccessorOpened& event, Now now);
  void on(const AcceptAccount& event, Now now);

 private:
  void begin_anew(const std::string& set, Now now);
  void ended(std::uint32_t set, const model::CloudError* error, Now now);
  void tell_ignored(std::uint32_t set, const std::vector<std::string>& names, std::size_t count,
                    Now now);

  Sets& sets_;
  Watches& watches_;
  Hosts& hosts_;
  CallGates& gates_;
  Recorder& recorder_;
  Interruptions& interruptions_;
  std::uint64_t watches_sent_ = 0;
};

}  // namespace hostler::dispatch
