#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/dispatch/state/recorder.h"
#include "core/dispatch/state/waiting_work.h"
#include "core/model/views.h"
#include "core/scheduler/plan.h"
#include "core/scheduler/snapshot.h"

namespace hostler::dispatch {

/// Which hosts gangs hold while they wait for more, and how long they pause after one of these was
/// lost. Plans decide what is held; a restart forgets both. Each time that a gang lets go is in the
/// ledger, at its first lease.
class Gangs {
 public:
  Gangs(const WaitingWork& waiting, Recorder& recorder) : waiting_(waiting), recorder_(recorder) {}

  /// Before a plan: gangs of which a held host was lost let all go.
  void look(const std::vector<scheduler::HostView>& hosts, Now now);
  /// After a plan, which says which gangs hold hosts, and why others wait: those that are reserved
  /// for them now. A gang that waits and holds no hosts any more has let all go. True: some has.
  bool note_held(const std::vector<scheduler::Waiting>& waiting,
                 const std::vector<scheduler::HostView>& hosts, Now now);
  /// It holds no hosts before then; in the past: it may. The pause doubles each time.
  [[nodiscard]] Mono not_before(demand::ClassId cls) const;
  /// Adds to the reasons for which gangs wait until when they pause.
  void add_pauses(std::vector<scheduler::Waiting>& waiting, Now now) const;
  /// Its hosts were chosen, and it lets them go. `why`: for people, a clause.
  void let_go(demand::ClassId cls, const std::string& why, Now now);

  struct Broken {
    model::Gang gang;
    bool lets_go = false;  ///< If it can still be granted, it lets all of its hosts go first.
  };
  /// Perhaps it cannot be granted now, or not any more: something has happened to a lease of it
  /// that was not granted. Of other work: nothing.
  void note_broken(const model::Gang& gang, bool lets_go);
  [[nodiscard]] std::map<std::uint64_t, Broken> take_broken() { return std::exchange(broken_, {}); }

  void granted() { ++counts_.granted; }  ///< All leases of one.
  void refused() { ++counts_.refused; }
  /// Since the start of the daemon.
  [[nodiscard]] const model::GangCounts& counts() const { return counts_; }

 private:
  struct Pause {
    Mono until;
    std::uint32_t tries = 0;
  };
  using Held = std::map<demand::ClassId, std::vector<model::InstanceId>>;
  [[nodiscard]] Held held_in(const std::vector<scheduler::Waiting>& waiting,
                             const std::vector<scheduler::HostView>& hosts) const;
  /// Forgets pauses of gangs that have ended.
  void tidy();

  const WaitingWork& waiting_;
  Recorder& recorder_;
  Held held_;  ///< Gangs that hold hosts, and which of these have no other work meanwhile.
  std::map<demand::ClassId, Pause> pauses_;
  std::map<std::uint64_t, Broken> broken_;
  model::GangCounts counts_;
};

}  // namespace hostler::dispatch
