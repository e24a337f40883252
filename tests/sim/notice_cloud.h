#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "core/base/random.h"
#include "core/dispatch/dispatcher.h"
#include "core/simulation/timeline.h"
#include "tests/sim/cloud.h"

namespace hostler::sim {

using simulation::Timeline;

/// A cloud that takes machines back and says so before, on one day in four: by its driver's watch,
/// by its lists and on the machines, in any combination. Notices come late or doubled, name times
/// that have passed or no time, are withdrawn, or nothing follows them; machines go early, late, or
/// without one of the notices; watches fail. Its choices are apart from all others.
///
/// Checks that no attempt starts on a host that the daemon knows will be interrupted, and that
/// restartable work of such a host waits again and loses no try.
class NoticeCloud {
 public:
  using Reply = std::function<void(Duration, dispatch::Event)>;
  /// What the check on a machine prints.
  using OnMachine = std::function<void(Machine&, model::HostInterruption)>;

  NoticeCloud(std::uint64_t seed, Timeline& time, Cloud& cloud, const Disk& disk,
              OnMachine on_machine, Disk::Complain complain)
      : time_(time),
        cloud_(cloud),
        disk_(disk),
        on_machine_(std::move(on_machine)),
        complain_(std::move(complain)),
        random_(seed ^ 0x077) {}
  static bool is_of(std::uint64_t seed) { return seed % 4 == 2; }

  /// Takes machines back until `trouble` has passed.
  void begin(Duration trouble);
  void watch(const dispatch::WatchCall& call, bool faults, const Reply& reply);
  /// What a list says of the machine; 0: nothing.
  [[nodiscard]] Wall listed(const Machine& machine) const;
  void daemon_started() {
    cordoned_.clear();
    watch_.reset();
  }
  /// What the daemon has decided, before it is durable.
  void check(const dispatch::Outbox& outbox, const dispatch::Queries& queries, Now now);

 private:
  struct Notice {
    Machine* machine = nullptr;
    model::InterruptionAction action{};
    Wall at;
    bool by_driver = false, by_list = false, on_host = false, holds = true;
  };
  struct Watch {
    std::uint64_t number = 0;
    Reply reply;
  };
  void take_one_back();
  void tell(const Notice& notice, bool withdrawn);
  void say(std::vector<model::Interruption> notices);
  [[nodiscard]] model::Interruption record_of(const Notice& notice, bool withdrawn) const;
  void check_row(const model::WorkRecord& row);
  [[nodiscard]] Duration between(Duration low, Duration high);

  Timeline& time_;
  Cloud& cloud_;
  const Disk& disk_;
  const OnMachine on_machine_;
  const Disk::Complain complain_;
  Random random_;
  std::vector<std::unique_ptr<Notice>> notices_;
  std::optional<Watch> watch_;
  std::set<model::InstanceId> cordoned_;  ///< As the daemon saw it at its last decision.
};

}  // namespace hostler::sim
