#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/dispatch/state/principals.h"
#include "core/dispatch/state/waiting_work.h"
#include "core/work/lease.h"

namespace hostler::dispatch {

[[nodiscard]] inline WaitingWork::Place place_of(const work::Lease& lease) {
  return {
      .work = lease.id(), .cls = lease.cls, .principal = lease.principal, .arrival = lease.arrival};
}

/// All leases that have not ended. A lease is in the queue of WaitingWork exactly while its
/// `queued` is set. Its whole host counts in Principals from `granting` on until it ends or waits
/// again.
class Leases {
 public:
  /// The others outlive it.
  Leases(Principals& principals, WaitingWork& waiting)
      : principals_(principals), waiting_(waiting) {}

  /// Adds a lease of the journal. `waiting_since` is used only if it is queued.
  void restore(const model::WorkItem& item, const model::LeaseRecord& terms, Mono waiting_since,
               Now now);
  /// Accepts a lease: gives it the next number and arrival, written into both rows too, and queues
  /// it. The first one of a gang also gives the gang its id: the others are added right after it.
  model::WorkId add(model::WorkItem& item, model::LeaseRecord& terms, Now now);
  /// The most bytes that the keys and notice commands of all leases of a principal may have until
  /// they end: they are in memory.
  static constexpr std::size_t kTextsMax = std::size_t{64} << 20;
  /// Checks that the principal may have `count` more leases with the texts of `terms`. kOverQuota:
  /// the message says how many bytes there are.
  [[nodiscard]] Result<void> check_texts(const std::string& principal,
                                         const model::LeaseRecord& terms,
                                         std::uint32_t count) const;
  /// Null if the lease has ended or never existed. Valid until it ends.
  [[nodiscard]] work::Lease* find(model::WorkId id);
  [[nodiscard]] const work::Lease* find(model::WorkId id) const;
  [[nodiscard]] const model::Gang& gang(const work::Lease& lease) const {
    return waiting_.queue().at(lease.cls).shape.gang;
  }
  /// The leases of the gang that have not ended, by id.
  [[nodiscard]] std::vector<work::Lease*> members(const model::Gang& gang);
  /// The least that its host must have.
  [[nodiscard]] const model::Resources& needs(const work::Lease& lease) const {
    return waiting_.queue().at(lease.cls).shape.needs;
  }
  /// Takes the next lease of a class out of the queue, to get this host. Queue::has_next() says if
  /// there is one.
  work::Lease& pop(demand::ClassId cls, const model::Amounts& host);
  /// A lease that was placed holds this host, the whole of it.
  void hold(work::Lease& lease, const model::Amounts& host, Mono now);
  /// After each step of core/work: brings queue and times into agreement with the lease. A lease
  /// that has ended is forgotten, so callers do not touch it afterwards. True: the queue has
  /// changed, or a principal that waits may have more.
  bool settle(work::Lease& lease, work::Next next, Mono now);

  /// The lease whose time, or that of its notice, has come first.
  [[nodiscard]] std::optional<model::WorkId> first_due(Mono now) const;
  /// When first_due() has one; fleet::kNever: never.
  [[nodiscard]] Mono next_due() const;
  /// The times of all leases that have one.
  using ByTime = std::set<std::pair<Mono, model::WorkId>>;
  [[nodiscard]] const ByTime& by_time() const { return by_time_; }
  /// Its Lease::due comes at this time, whatever it was.
  void set_due(work::Lease& lease, Mono due);
  /// The time of its notice comes then, whatever it was.
  void set_notice(work::Lease& lease, Mono notice);

  using Counts = std::array<std::uint64_t, model::kLiveStates.size()>;
  /// How many leases are in each state of model::kLiveStates, in that order. O(leases).
  [[nodiscard]] Counts counts() const;
  [[nodiscard]] bool empty() const { return leases_.empty(); }
  /// The leases that have a host as far as their record says, by id. O(leases).
  [[nodiscard]] std::vector<model::WorkId> placed() const;
  /// It may go to these pools only from now on. In the queue it is as if it came now.
  void set_pools(work::Lease& lease, std::vector<std::string> pools, Mono now);
  /// The leases that were not granted yet, by id. O(leases).
  [[nodiscard]] std::vector<model::WorkId> ungranted() const;
  /// The leases that are held, by id. O(leases).
  [[nodiscard]] std::vector<model::WorkId> held() const;

 private:
  work::Lease& insert(const model::WorkItem& item, const model::LeaseRecord& terms, Now now);
  bool release(work::Lease& lease, Mono now);
  void schedule(const work::Lease& lease);

  Principals& principals_;
  WaitingWork& waiting_;
  std::map<model::WorkId, work::Lease> leases_;
  std::map<std::uint32_t, std::size_t> texts_;  ///< By principal: bytes. No entry: none.
  ByTime by_time_;
  std::map<model::WorkId, Mono> due_;  ///< The times of by_time_, by lease.
};

}  // namespace hostler::dispatch
