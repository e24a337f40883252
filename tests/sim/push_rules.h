#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/base/time.h"
#include "core/model/policy.h"
#include "core/model/records.h"
#include "core/scheduler/plan.h"
#include "tests/sim/disk.h"
#include "tests/sim/push_turns.h"

namespace hostler::sim {

/// The promises of docs/pushed.md to the scheduler of one pool. It goes by pushes, answers and rows
/// of hosts, as they are decided, and by nothing that the daemon keeps of them.
class PushRules {
 public:
  /// The host of this row runs something, although its scheduler keeps its promise. Null: nobody
  /// keeps one.
  using IsInUse = std::function<bool(model::InstanceId)>;

  PushRules(const model::PoolPolicy& pool, IsInUse is_in_use, Disk::Complain complain)
      : pool_(pool),
        is_in_use_(std::move(is_in_use)),
        complain_(std::move(complain)),
        turns_(pool.pushed->max_age) {}

  void daemon_started(const Disk& disk, Now now);
  [[nodiscard]] PushTurns& turns() { return turns_; }
  [[nodiscard]] const std::string& pool() const { return pool_.name; }
  [[nodiscard]] model::AgentName agent_name() const { return pool_.pushed->agent_name; }
  /// The bounds of the pool are these now.
  void set_sizes(const model::PoolSizes& sizes) { pool_.sizes = sizes; }

  /// The daemon has taken the push, and decided this answer.
  void answered(const std::string& principal, const model::Push& push,
                const model::PushAnswer& answer, Now now);
  /// A row of a host of the pool.
  void decided(const model::InstanceRecord& row, Now now);
  /// A plan, before anybody spoils it. `sizes`: slots of the types of the pool.
  void planned(const scheduler::Snapshot& snapshot, const scheduler::Plan& plan, std::uint32_t pool,
               const std::vector<std::int32_t>& sizes) const;

 private:
  enum class Said { kNothing, kIdle, kBusy, kMissing };
  struct Host {
    model::InstanceRecord row;
    Said said = Said::kNothing;             ///< By the pushes since the daemon's start.
    Mono since;                             ///< They say so.
    bool is_exact = false;                  ///< `since` is, as no earlier start has heard of it.
    std::optional<std::uint64_t> named_by;  ///< The first answer in a row that names it.
    bool acknowledged = false;
  };
  using Hosts = std::map<model::InstanceId, Host>;

  [[nodiscard]] std::set<model::InstanceId> hosts_of(const std::string& agent) const;
  [[nodiscard]] std::string name_of(const model::InstanceRecord& row) const;
  void hear_agents(const model::Push& push, Now now);
  void check_names(const model::Push& push, const model::PushAnswer& answer);
  void check_never_fits(const model::PushAnswer& answer) const;
  void check_end(const Host& host, const model::InstanceRecord& row, Now now) const;
  void check_listing(const Host& host, model::Reason code, Now now) const;
  void check_stale(const scheduler::Snapshot& snapshot, const scheduler::Plan& plan,
                   std::int64_t creates) const;
  [[nodiscard]] bool is_fresh(Mono now) const { return last_ && now < heard_ + max_age(); }
  [[nodiscard]] bool is_abandoned(Mono now) const;
  [[nodiscard]] Duration max_age() const { return pool_.pushed->max_age; }
  [[nodiscard]] std::int64_t wanted_hosts(std::int64_t slots) const;

  model::PoolPolicy pool_;
  const IsInUse is_in_use_;
  const Disk::Complain complain_;
  PushTurns turns_;
  Hosts hosts_;                      ///< That are not gone.
  std::set<std::uint64_t> answers_;  ///< Of all starts: no number is used twice.
  std::uint64_t last_answer_ = 0;    ///< Of this start.
  Mono heard_;                       ///< The last push; before it the start.
  std::optional<model::Push> last_;  ///< Since the start.
};

}  // namespace hostler::sim
