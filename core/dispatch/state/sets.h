#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/base/time.h"
#include "core/dispatch/state/last_list.h"
#include "core/fleet/instance.h"
#include "core/model/cloud.h"
#include "core/model/policy.h"
#include "core/model/records.h"

namespace hostler::dispatch {

/// Doubt about a list that omits half of the set's instances (three or more), or all. The cloud is
/// asked for the missing ones by their ids.
struct ListDoubt {
  Wall since;
  Mono patience_ends;      ///< Creates go on then, even without an answer.
  bool asking = true;      ///< Not all answers are in.
  bool unchecked = false;  ///< `asking`, and the patience is over.
  bool reported = false;   ///< It is worth an event.
};

/// Half of the connected hosts (three or more) became unreachable within a probe timeout.
struct Partition {
  Wall since;
  Mono begun;                                ///< The same on the other clock.
  Mono until;                                ///< None of them is ended for that before.
  std::set<model::InstanceId> boots_failed;  ///< New hosts that could not be reached either.
};

/// Look-ups of instances by their ids.
struct LookUps {
  std::set<model::InstanceId> to_send;
  Mono not_before{};
  std::uint32_t failures = 0;  ///< In a row.
  bool supported = true;       ///< False: the driver has said that it cannot.
  bool under_way = false;
};

/// Nobody can log in at the jump host of the set.
struct JumpHostProblem {
  Wall since;
  std::string text;  ///< Why; fit to print.
};

/// Which hosts of the set can be reached.
struct Reach {
  std::map<model::InstanceId, Mono> unreachable;  ///< And since when.
  std::set<model::InstanceId> connected;          ///< By a proved connection.
  std::optional<Partition> partition;
  std::optional<JumpHostProblem> jump_host;
  /// Hosts of before the restart were looked at together, once: those that are still unreachable
  /// after that are lost one by one.
  bool looked_after_restart = false;
};

/// A driver may ask for a pause before the next list, question or watch. hostlerd waits at most
/// this long: without lists nobody knows what exists.
inline constexpr Duration kAskedPauseMax = std::chrono::minutes(10);

/// The driver was asked for the quota group of a type.
struct QuotaGroup {
  model::InstanceType asked_about;
  std::string name;  ///< Its answer; empty: none, or no answer yet.
};

/// One instance set: the state of its connection to a cloud, and the time of its next calls. Each
/// of its members is about one kind of call or answer; the handler of these reads and writes it.
struct Set {
  std::string name;
  model::DriverFile driver_file;  ///< Of the driver in use; empty: not known yet.
  bool in_process = false;        ///< The driver runs in this process, which ends if it dies.
  bool open = false, opening = false, listing = false;
  /// Its first list is still to come, which may show instances that the rows do not have: nothing
  /// is created before.
  bool unlisted = false;
  /// The first list may even show that the rows, which end in this epoch, are old: nothing at all
  /// is done to its instances before.
  std::optional<std::uint64_t> untouched;
  bool foreign = false;  ///< It holds instances of another owner: nothing is created in it.
  /// The stored account cannot be read: the set is closed until an admin accepts one.
  bool account_damaged = false;
  bool has_quota_groups = true;  ///< False: its driver has said that it has none.
  std::uint64_t driver = 0;      ///< Answers of earlier drivers to OpenSet say nothing any more.
  model::SetInfo info;
  model::SetAccount account;  ///< Of its instances, as far as it is known.
  /// The cloud reports another account: the set is closed until it does not, or an admin accepts
  /// it.
  std::optional<model::SetInfo> unaccepted;
  /// Lists and look-ups sent before may be those of an account that was not accepted.
  Mono lists_from = Mono::min();
  /// The cloud has asked for this pause when it refused a list.
  Mono list_not_before = Mono::min();
  Mono list_at = fleet::kNever, open_at = fleet::kNever, prices_at = fleet::kNever,
       groups_at = fleet::kNever;
  Mono list_sent{};                                ///< The last one.
  std::int64_t listed = 0;                         ///< Instances in the last list, ours or not.
  std::uint32_t failures = 0;                      ///< Of open or list, in a row.
  std::optional<Mono> flaws_told;                  ///< When an event last said what is odd in it.
  std::uint32_t repairs_left = 0;                  ///< Of tags, until the next list.
  std::map<std::string, QuotaGroup> quota_groups;  ///< By the name of the type.
  std::string problem;
  /// The driver dies in list, so that the set is not seen: why it is suspended; empty: it is not.
  std::string suspended;

  LastList last_list;
  /// Of the last complete list; lists that omit the same instances have the same number.
  std::uint64_t list_number = 0;
  /// Instances that it omits and should show, and vanished ones that still count for ceilings.
  std::vector<model::InstanceId> missing;
  std::optional<ListDoubt> doubt;
  LookUps look_ups;
  Reach reach;

  /// A list is wanted at `at`. It is sent then or later: the driver asks for a pause between two
  /// lists, and a large set gets a longer one.
  void want_list(const model::SetPolicy& policy, Mono at);
  /// The same now, also if the cloud has asked for a pause: an admin or a new driver may know
  /// better.
  void want_list_at_once(const model::SetPolicy& policy, Mono now);
  /// A list was refused. `asked`: how long the cloud wants to be left alone, if it says so.
  void list_failed(const model::SetPolicy& policy, std::optional<Duration> asked, Mono now);
  /// When something is to be done for it next.
  [[nodiscard]] Mono next_wake() const;
  /// Why nothing is created in it now, one sentence for people; empty: creates may be sent.
  [[nodiscard]] std::string refuses_creates() const;
  /// Its lists show what exists: nothing about them is doubted, or still to come.
  [[nodiscard]] bool shows_what_exists() const {
    return !doubt && !foreign && !unlisted && !untouched && suspended.empty();
  }
  /// Why nothing of this market is created in it: its driver does not have it. One sentence for
  /// people; empty: it may be.
  [[nodiscard]] std::string refuses_market(model::Market market) const;
  /// Why the pool can have no host in it, whatever is created: the driver cannot hand over what the
  /// pool needs. One sentence for people; empty: it can.
  [[nodiscard]] std::string refuses_pool(const model::PoolPolicy& pool) const;
  /// The planner does not end the instance now: it may be missing by a false list only, or
  /// unreachable by a fault of the network.
  [[nodiscard]] bool spares(const fleet::Instance& instance) const;
};

/// The sets of the site, by index into SitePolicy::sets.
class Sets {
 public:
  explicit Sets(const model::SitePolicy& policy);
  /// The accounts of the journal; of damaged rows those of table sets.
  void restore(const std::vector<model::SetAccount>& accounts,
               const std::vector<model::DamagedRow>& damaged);

  [[nodiscard]] Set& at(std::uint32_t index) { return sets_.at(index); }
  [[nodiscard]] const Set& at(std::uint32_t index) const { return sets_.at(index); }
  [[nodiscard]] std::optional<std::uint32_t> index_of(const std::string& name) const;
  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(sets_.size()); }
  [[nodiscard]] const std::vector<Set>& all() const { return sets_; }
  [[nodiscard]] Mono next_wake() const;

  /// The group of types that share one quota in this set: as configured, otherwise what the driver
  /// said of exactly this type; empty: none, or not known yet.
  [[nodiscard]] const std::string& quota_group(std::uint32_t set,
                                               const model::InstanceType& type) const;
  /// Instances like this one can be switched off and on, as far as the cloud says.
  [[nodiscard]] bool has_power(std::uint32_t set, model::Market market) const;

 private:
  std::vector<Set> sets_;
};

}  // namespace hostler::dispatch
