#pragma once

#include <string>
#include <string_view>

#include "core/dispatch/events.h"
#include "core/dispatch/handlers/instance_calls.h"

namespace hostler::dispatch {

/// Asks for the console of a host that did not come up, before the host is destroyed: what is left
/// there of its boot goes with it. The destroy waits for the answer for some seconds at most, and
/// not after a restart.
class BootConsoles {
 public:
  BootConsoles(Sets& sets, Hosts& hosts, CallGates& gates, Recorder& recorder, InstanceCalls& calls)
      : sets_(sets), hosts_(hosts), gates_(gates), recorder_(recorder), calls_(calls) {}

  /// The boot of the host has failed just now. Asks if the driver can tell, once for each host and
  /// for a few hosts of a set at a time: the calls take the place of destroys.
  void ask(Host& host, Now now);
  /// Destroys the host, now or when the wait for its console is over: its deadline says when.
  void destroy(Host& host, Now now);
  void on(const ConsoleRead& event, Now now);
  /// The host is gone.
  void forget(const Host& host, Now now);

 private:
  [[nodiscard]] bool has_room(const Set& set) const;
  void keep(const Host& host, const model::ConsoleText& text, Now now);

  Sets& sets_;
  Hosts& hosts_;
  CallGates& gates_;
  Recorder& recorder_;
  InstanceCalls& calls_;
};

/// The end of what a console shows, as one printable line of `max` bytes at most: lines that are
/// not blank, with " | " between them. Colours and movements of the cursor are left out.
[[nodiscard]] std::string end_of_console(std::string_view bytes, std::size_t max);

}  // namespace hostler::dispatch
