#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/demand/queue.h"
#include "core/demand/shares.h"
#include "core/dispatch/state/client_keys.h"
#include "core/dispatch/state/waiting_counts.h"
#include "core/fleet/instance.h"
#include "core/model/quotas.h"
#include "core/work/step.h"

namespace hostler::dispatch {

/// All jobs that have not ended: the queue of those that wait (held ones are in none), counts by
/// state, client keys, principals, what each of them has used, and what it may run. A job is in the
/// queue exactly while its `queued` is set, and is counted once. What it holds of a host counts
/// until it neither starts nor runs.
class Jobs {
 public:
  void restore_last(std::uint64_t work, std::uint64_t arrival);
  void restore_client_key(std::string principal, std::string key, std::string digest,
                          model::WorkId id);
  /// Adds a job of the journal. `waiting_since` is used only if it is queued.
  void restore(model::WorkItem item, Mono waiting_since);

  void restore(const model::PrincipalUse& use, Now now);
  void set_half_life(Duration half_life, Mono now);
  /// What each principal may run, from now on. What runs already goes on.
  void set_quotas(const model::Quotas& quotas);

  /// Accepts a job: gives it the next number and arrival, written into `item` too, and queues it.
  model::WorkId add(model::WorkItem& item, Mono now);
  /// Adds a job that has its number, and a record, already; gives it the next arrival, written into
  /// `item` too.
  work::Job& add_known(model::WorkItem& item, Mono now);
  /// The highest number that was given out or left out.
  [[nodiscard]] std::uint64_t last_work() const { return last_work_; }
  /// Null if the job has ended or never existed. Valid until the job ends.
  [[nodiscard]] work::Job* find(model::WorkId id);
  [[nodiscard]] const work::Job* find(model::WorkId id) const;
  /// The job, while this is its attempt.
  [[nodiscard]] work::Job* find(const model::AttemptId& attempt);
  /// Takes the next job of a class out of the queue, to be placed where its part of a host has this
  /// price. Queue::has_next() says if there is one.
  work::Job& pop(demand::ClassId cls, model::Micros per_hour = {});
  /// Takes a job that waits out of the queue: its last attempt was found again.
  void withdraw(const work::Job& job) { leave_queue(job); }
  /// A job that was placed holds this part of a host, by demand::price_of_part().
  void hold(work::Job& job, model::Micros per_hour, Mono now);

  /// After each step of core/work: brings queue and counts into agreement with the job. A job that
  /// has ended is forgotten, so callers do not touch it afterwards. True: the queue has changed, or
  /// a principal that waits may run more.
  bool settle(work::Job& job, work::Next next, Mono now);

  /// An item of the class that waits is about to be cancelled.
  void note_cancelled(demand::ClassId cls) { ++cancelled_[cls]; }
  /// How many items of each class were cancelled while they waited, since the last call.
  [[nodiscard]] std::map<demand::ClassId, std::uint64_t> take_cancelled() {
    return std::exchange(cancelled_, {});
  }
  [[nodiscard]] const demand::Queue& queue() const { return queue_; }
  [[nodiscard]] const demand::Shares& shares() const { return shares_; }
  /// When use_changes() has something to write; kNever: no use changes.
  [[nodiscard]] Mono next_use_tick() const { return use_tick_; }
  /// Brings all uses up to date, and returns those that have changed, for the journal.
  /// O(principals).
  [[nodiscard]] std::vector<model::PrincipalUse> use_changes(Now now);
  [[nodiscard]] ClientKeys& client_keys() { return client_keys_; }
  [[nodiscard]] const ClientKeys& client_keys() const { return client_keys_; }
  [[nodiscard]] const std::string& principal_of(const work::Job& job) const;
  /// What one principal holds of hosts.
  [[nodiscard]] demand::Shares::Held held_by(const std::string& principal) const;
  /// What waits of one principal.
  [[nodiscard]] const WaitingCounts::Of& waiting_of(const std::string& principal) const;
  /// All that submitted a job which had not ended, since the start; by demand::PrincipalId.
  [[nodiscard]] const std::vector<std::string>& principals() const { return principals_; }
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
  void enter_queue(const work::Job& job, Mono since);
  /// False: it was not in it.
  bool leave_queue(const work::Job& job);
  demand::PrincipalId principal(const std::string& name);
  /// True: the principal has a limit, and waits.
  bool release(work::Job& job, Mono now);
  /// After what the principal holds or may run has changed.
  void update_allowance(demand::PrincipalId principal);
  /// After the use of the principal has changed.
  void use_changed(demand::PrincipalId principal, Mono now);

  std::unordered_map<model::WorkId, work::Job> jobs_;
  Counts counts_{};
  demand::Queue queue_;
  WaitingCounts waiting_;
  std::map<demand::ClassId, std::uint64_t> cancelled_;
  ClientKeys client_keys_;
  demand::Shares shares_;
  model::Quotas quotas_;
  std::vector<demand::Allowance> limits_;  ///< Of what a principal runs together.
  Mono use_tick_ = fleet::kNever;
  std::vector<std::string> principals_;
  std::unordered_map<std::string, demand::PrincipalId> principal_ids_;
  std::uint64_t last_work_ = 0, last_arrival_ = 0;
};

}  // namespace hostler::dispatch
