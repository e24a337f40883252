#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/dispatch/state/principals.h"
#include "core/dispatch/state/waiting_work.h"
#include "core/work/step.h"

namespace hostler::dispatch {

[[nodiscard]] inline WaitingWork::Place place_of(const work::Job& job) {
  return {.work = job.id, .cls = job.cls, .principal = job.principal, .arrival = job.arrival};
}

/// All jobs that have not ended, and how many are in each state. A job is in the queue of
/// WaitingWork exactly while its `queued` is set (a held one is not), and is counted once. What it
/// holds of a host counts in Principals until it neither starts nor runs.
class Jobs {
 public:
  /// The others outlive it.
  Jobs(Principals& principals, WaitingWork& waiting) : principals_(principals), waiting_(waiting) {}

  /// Adds a job of the journal. `waiting_since` is used only if it is queued.
  void restore(model::WorkItem item, Mono waiting_since);

  /// Accepts a job: gives it the next number and arrival, written into `item` too, and queues it.
  model::WorkId add(model::WorkItem& item, Mono now);
  /// Adds a job that has its number, and a record, already; gives it the next arrival, written into
  /// `item` too.
  work::Job& add_known(model::WorkItem& item, Mono now);
  /// Null if the job has ended or never existed. Valid until the job ends.
  [[nodiscard]] work::Job* find(model::WorkId id);
  [[nodiscard]] const work::Job* find(model::WorkId id) const;
  /// The job, while this is its attempt.
  [[nodiscard]] work::Job* find(const model::AttemptId& attempt);
  /// What it needs of a host.
  [[nodiscard]] const model::Resources& needs(const work::Job& job) const {
    return waiting_.queue().at(job.cls).shape.needs;
  }
  /// Takes the next job of a class out of the queue, to be placed where its part of a host has this
  /// price. Queue::has_next() says if there is one.
  work::Job& pop(demand::ClassId cls, model::Micros per_hour = {});
  /// Takes a job out of the queue, if it waits: its last attempt was found again.
  void withdraw(const work::Job& job);
  /// A job that was placed holds this part of a host, by demand::price_of_part().
  void hold(work::Job& job, model::Micros per_hour, Mono now);

  /// After each step of core/work: brings queue and counts into agreement with the job. A job that
  /// has ended is forgotten, so callers do not touch it afterwards. True: the queue has changed, or
  /// a principal that waits may run more.
  bool settle(work::Job& job, work::Next next, Mono now);

  using Counts = std::array<std::uint64_t, model::kLiveStates.size()>;
  /// As model::kLiveStates.
  [[nodiscard]] const Counts& counts() const { return counts_; }
  [[nodiscard]] bool empty() const { return jobs_.empty(); }
  /// Of jobs that are on a host as far as their record says, by id.
  [[nodiscard]] std::vector<model::WorkId> placed() const;
  /// Of jobs that are held, by id. O(jobs), unless there is none.
  [[nodiscard]] std::vector<model::WorkId> held() const;

 private:
  work::Job& insert(const model::WorkItem& item);
  void count(work::Job& job);
  /// True: a principal that waits may run more.
  bool release(work::Job& job, Mono now);

  Principals& principals_;
  WaitingWork& waiting_;
  std::unordered_map<model::WorkId, work::Job> jobs_;
  Counts counts_{};
};

}  // namespace hostler::dispatch
