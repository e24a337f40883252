#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "core/dispatch/state/principals.h"
#include "core/dispatch/state/waiting_work.h"
#include "core/work/lease.h"

namespace hostler::dispatch {

/// All leases that have not ended. A lease is in the queue of WaitingWork exactly while its
/// `queued` is set. What it holds of a host, the whole of it, counts in Principals from `granting`
/// on until it ends or waits again.
class Leases {
 public:
  /// The others outlive it.
  Leases(Principals& principals, WaitingWork& waiting)
      : principals_(principals), waiting_(waiting) {}

  /// Adds a lease of the journal. `waiting_since` is used only if it is queued.
  void restore(model::WorkItem item, model::LeaseRecord terms, Mono waiting_since);
  /// Accepts a lease: gives it the next number and arrival, written into both rows too, and queues
  /// it.
  model::WorkId add(model::WorkItem& item, model::LeaseRecord& terms, Now now);
  /// Null if the lease has ended or never existed. Valid until it ends.
  [[nodiscard]] work::Lease* find(model::WorkId id);
  [[nodiscard]] const work::Lease* find(model::WorkId id) const;
  /// Takes the next lease of a class out of the queue, to be placed on a host at this price.
  work::Lease& pop(demand::ClassId cls, model::Micros per_hour);
  /// A lease that was placed holds its host whole.
  void hold(work::Lease& lease, model::Micros per_hour, model::Vcpus vcpus, Mono now);
  /// After each step of core/work: brings queue and deadlines into agreement with the lease. A
  /// lease that has ended is forgotten. True: the queue has changed, or a principal that waits may
  /// have more.
  bool settle(work::Lease& lease, work::Next next, Now now);

  /// The lease whose time has come first.
  [[nodiscard]] std::optional<model::WorkId> first_due(Mono now) const;
  /// When first_due() has one; fleet::kNever: never.
  [[nodiscard]] Mono next_due() const;
  [[nodiscard]] const std::map<model::WorkId, work::Lease>& all() const { return leases_; }

 private:
  work::Lease& insert(const model::WorkItem& item, const model::LeaseRecord& terms);
  bool release(work::Lease& lease, Mono now);
  void schedule(const work::Lease& lease);

  Principals& principals_;
  WaitingWork& waiting_;
  std::map<model::WorkId, work::Lease> leases_;
  std::set<std::pair<Mono, model::WorkId>> by_time_;
  std::map<model::WorkId, Mono> due_;
};

}  // namespace hostler::dispatch
