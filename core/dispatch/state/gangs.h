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

/// The hosts that gangs hold while they wait for more, and how long gangs pause after they have let
/// go. Plans decide which hosts are held; a restart forgets hosts and pauses. Each time that a gang
/// lets go is in the ledger, at its first lease.
class Gangs {
 public:
  Gangs(const WaitingWork& waiting, Recorder& recorder) : waiting_(waiting), recorder_(recorder) {}

  /// Before a plan: a gang that has lost a held host lets all of them go.
  void look(const std::vector<scheduler::HostView>& hosts, Now now);
  /// After a plan: `waiting` says which gangs hold hosts, and why others wait; `hosts` which ones
  /// are reserved for them. A gang that still waits, and holds no hosts any more, has let all of
  /// them go. True: some gang has.
  bool note_held(const std::vector<scheduler::Waiting>& waiting,
                 const std::vector<scheduler::HostView>& hosts, Now now);
  /// When the pause of the gang ends: it holds no hosts before then. In the past: it may hold some.
  [[nodiscard]] Mono not_before(demand::ClassId cls) const;
  /// Adds to each reason for which a gang waits when its pause ends.
  void add_pauses(std::vector<scheduler::Waiting>& waiting, Now now) const;
  /// The gang lets its hosts go and pauses: 30 s the first time, and each time twice as long, up to
  /// an hour. `why`: for people, a clause.
  void let_go(demand::ClassId cls, const std::string& why, Now now);

  struct Broken {
    model::Gang gang;
    bool lets_go = false;  ///< If it can still be granted, it lets all of its hosts go.
  };
  /// The gang may be broken: something has happened to a lease of it that was not granted. Nothing
  /// happens if there is no gang (`count` is 0).
  void note_broken(const model::Gang& gang, bool lets_go);
  [[nodiscard]] std::map<std::uint64_t, Broken> take_broken() { return std::exchange(broken_, {}); }

  void granted() { ++counts_.granted; }  ///< All leases of one gang.
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
  /// The gang lets its hosts go, and does not pause.
  void drop(demand::ClassId cls, const std::string& why, Now now);
  /// Begins its pause. Returns a clause that says until when.
  std::string pause(demand::ClassId cls, Now now);
  /// Forgets pauses of gangs that have ended.
  void tidy();

  const WaitingWork& waiting_;
  Recorder& recorder_;
  Held held_;  ///< Gangs that hold hosts, with those of their hosts that have no other work.
  std::map<demand::ClassId, Pause> pauses_;
  std::map<std::uint64_t, Broken> broken_;
  model::GangCounts counts_;
};

}  // namespace hostler::dispatch
