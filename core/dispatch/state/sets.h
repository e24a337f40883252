#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/time.h"
#include "core/dispatch/state/questions/quota_groups.h"
#include "core/dispatch/state/sets/account.h"
#include "core/dispatch/state/sets/list_in_hand.h"
#include "core/dispatch/state/sets/lists.h"
#include "core/dispatch/state/sets/opening.h"
#include "core/dispatch/state/sets/reach.h"
#include "core/dispatch/state/sets/strangers.h"
#include "core/dispatch/state/timer.h"
#include "core/fleet/instance.h"
#include "core/model/cloud.h"
#include "core/model/policy.h"
#include "core/model/records.h"

namespace hostler::dispatch {

/// One instance set: the state of its connection to a cloud, and the time of its next calls. The
/// handlers of one kind of call change each group; the functions below read several groups.
struct Set {
  std::string name;
  SetDriver driver;
  Opening opening;
  model::SetInfo info;  ///< What its driver said when it was opened last.
  Account account;
  std::string problem;  ///< Why it is not open, or not used; for people.
  FirstList first_list;
  ListCalls lists;
  Shown shown;
  std::optional<ListInHand> in_hand;
  Strangers strangers;
  Omissions omissions;
  LookUps look_ups;
  Reach reach;
  QuotaGroups quota_groups;

  [[nodiscard]] bool is_open() const { return opening.is_open(); }
  /// Its last list shows an instance of a later epoch: nothing is done in it.
  [[nodiscard]] bool is_stopped() const { return !first_list.later.empty(); }
  /// The answer to a call that was sent then is one of its account. False: perhaps of another one,
  /// or the set is closed.
  [[nodiscard]] bool takes_answer(Mono sent) const {
    return is_open() && sent >= account.answers_from();
  }
  /// A list is wanted at `at`. It is sent then or later: the driver asks for a pause between two
  /// lists, and a large set gets a longer one.
  void want_list(const model::SetPolicy& policy, Mono at);
  /// The same now, also if the cloud has asked for a pause: an admin or a new driver may know
  /// better.
  void want_list_at_once(const model::SetPolicy& policy, Mono now);
  /// A good list has come, which was sent then. True: hosts and creates were held back without it.
  bool list_succeeded(const model::SetPolicy& policy, Mono sent, Mono now);
  /// A list was refused. `asked`: how long the cloud wants to be left alone, if it says so.
  void list_failed(const model::SetPolicy& policy, std::optional<Duration> asked, Mono now);
  /// What is to be done for it, and when.
  [[nodiscard]] std::array<Timer, 8> timers() const;
  [[nodiscard]] Mono next_wake() const { return first_of(timers()); }
  /// Why nothing is created in it now, one sentence for people; empty: creates may be sent.
  [[nodiscard]] std::string refuses_creates(Mono now) const;
  /// "no list for 38 s"; empty: its lists are not overdue.
  [[nodiscard]] std::string without_list(Mono now) const;
  /// Its lists show what exists: nothing about them is doubted, or still to come.
  [[nodiscard]] bool shows_what_exists() const { return !in_hand && is_list_believed(); }
  /// The same, also while a part of the last list is still to be looked at.
  [[nodiscard]] bool is_list_believed() const {
    return !omissions.doubt() && strangers.left().empty() && !shown.foreign &&
           !first_list.holds_creates && lists.suspended().empty() && !lists.is_overdue();
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
  /// One whose rows may not be the newest ones, as its first list has not come; null: none.
  [[nodiscard]] const Set* with_doubted_rows() const;

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
