#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/dispatch/dispatcher.h"
#include "tests/sim/decisions.h"
#include "tests/sim/disk.h"

namespace hostler::sim {

/// Checks what a pool has: which host is made and ended for what, and who gets the first work of a
/// new host. On some days the minimum of the pool fits little of its work, or an admin changes its
/// maximum and its types.
class PoolDays {
 public:
  enum class Kind { kNone, kTightMinimum, kReloads };
  static Kind kind_of(std::uint64_t seed);

  PoolDays(std::uint64_t seed, const Disk& disk, Disk::Complain complain)
      : kind_(kind_of(seed)), disk_(disk), complain_(std::move(complain)) {}

  [[nodiscard]] Kind kind() const { return kind_; }
  /// On a day of a tight minimum.
  void set_minimum(model::SitePolicy& policy) const;

  void daemon_started();
  /// Work of hosts that no list shows may go to others.
  void lists_are_overdue(Now now) {
    overdue_ = now.mono;
    certain_.clear();
  }
  void planned(std::uint64_t number, std::shared_ptr<const scheduler::Snapshot> snapshot,
               const scheduler::Plan& plan);
  /// The plan is applied by the decision that is checked next.
  void applies(std::uint64_t number) { applied_ = number; }
  void check(const Cause& cause, const dispatch::Outbox& outbox, const dispatch::Queries& queries,
             Now now);
  /// The policy was replaced.
  void check_reload(const dispatch::Queries& queries, Now now);
  /// Nobody has disturbed the pool for long, and its minimum is about to be taken away.
  void check_at_rest(const dispatch::Queries& queries, Now now);

  /// The host was made for such a job, and has not been given work yet.
  [[nodiscard]] bool is_made_for(model::InstanceId host, const model::WorkShape& shape) const;

 private:
  struct Own {
    model::WorkShape shape;
    std::uint32_t count = 0;
  };
  struct Planned {
    std::shared_ptr<const scheduler::Snapshot> snapshot;
    std::vector<scheduler::Create> creates;
    std::vector<scheduler::Wake> wakes;
  };
  using Loads = std::map<model::InstanceId, std::vector<Own>>;

  void on(const model::InstanceChanged& row, const dispatch::Queries& queries);
  void on(const model::WorkChanged& row);
  void learn(model::InstanceId host, const std::vector<demand::Load>& load,
             const scheduler::Snapshot& snapshot);
  void check_surplus(const model::InstanceRecord& host);
  void check_exchange(const model::InstanceRecord& host, const model::PoolPolicy& pool);
  void begin_exchange(model::InstanceId host, const model::PoolPolicy& pool);
  void end_exchange(const model::InstanceRecord& host, const model::PoolPolicy& pool);
  void rest(Duration time);
  void check_start(model::InstanceId host, const dispatch::Queries& queries);
  void check_own_first(model::InstanceId host, const std::vector<model::WorkShape>& started);

  const Kind kind_;
  const Disk& disk_;
  Disk::Complain complain_;
  Now now_;
  std::map<std::uint64_t, Planned> plans_;
  std::optional<std::uint64_t> applied_;
  std::size_t next_create_ = 0;
  Loads made_for_;                       ///< Of hosts that have not been given work.
  std::set<model::InstanceId> certain_;  ///< Of these, those whose load is as the kernel knows it.
  std::set<model::InstanceId> ending_;   ///< That this daemon ends.
  std::map<model::InstanceId, Mono> made_;
  std::map<model::WorkShape, std::size_t> waiting_;
  std::map<model::WorkId, std::pair<model::WorkState, model::WorkShape>> jobs_;
  Mono waited_ = Mono::min(), cancelled_ = Mono::min(), overdue_ = Mono::min();
  Mono exchanged_ = Mono::min();    ///< When the last one was begun, unless it has ended.
  bool exchange_is_made_ = false;   ///< Its new host.
  std::int32_t gone_first_ = 0;     ///< Dear hosts that went before a cheaper one was there.
  Mono rests_until_ = Mono::min();  ///< No exchange is begun before, as they did.
};

}  // namespace hostler::sim
