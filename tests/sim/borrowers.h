#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/base/random.h"
#include "core/dispatch/events.h"
#include "core/model/views.h"
#include "tests/sim/accounts.h"
#include "tests/sim/day.h"
#include "tests/sim/disk.h"

namespace hostler::sim {

/// Users who borrow hosts, on one day in six: they renew, return, cancel and forget leases. On some
/// days they log in, see accounts.h. Checks that a lent host is its holder's alone for the term,
/// and that it is cleaned or destroyed then.
class Borrowers {
 public:
  using Post = std::function<void(dispatch::Event)>;

  [[nodiscard]] static bool exist(std::uint64_t seed) { return seed % 6 == 3; }

  /// `seed` is for their choices alone.
  Borrowers(std::uint64_t seed, Timeline& time, const Disk& disk, Post post,
            Disk::Complain complain);

  /// The pool lends hosts, and cleans them on some days.
  void make_policy(model::PoolPolicy& pool);
  /// They ask for hosts within this time.
  void begin(Duration time);
  /// They ask for no more, and renew nothing.
  void end() { calm_ = true; }
  /// True: it answers one of them.
  bool hear(const dispatch::Reply& answer);

  void daemon_started(Now now);
  /// Checks terms, as decisions are made.
  void decided(const dispatch::Outbox& outbox, Now now);
  /// Checks hosts, once the rows are on the disk.
  void committed(const dispatch::Outbox& outbox);
  /// No lease is kept beyond its term.
  void check(Now now);
  [[nodiscard]] std::uint64_t granted() const { return granted_; }
  /// Adds what the daemon has counted since its last start.
  void count_gangs(const model::GangCounts& counts);
  [[nodiscard]] const model::GangCounts& gangs() const { return gangs_; }
  /// Null: the pool lends without a login.
  [[nodiscard]] Accounts* accounts() { return accounts_ ? &*accounts_ : nullptr; }
  [[nodiscard]] const Accounts* accounts() const { return accounts_ ? &*accounts_ : nullptr; }

 private:
  struct Wish {
    dispatch::SubmitLease asked;
    model::WorkId lease;  ///< Once it is answered.
  };
  /// A lease that has a host.
  struct Lent {
    model::InstanceId host;
    model::WorkState state{};
  };
  /// A granted lease, as decided.
  struct Term {
    Mono since;
    Duration term{};
    bool is_bound_only = false;  ///< A restart came since: only the latest end is certain.
    Wall until = {};             ///< The row's: changes of other members begin no term.
    bool is_over = false;  ///< Its end is decided: changes while it ends begin no term either.
  };

  void wish_for_gangs(Duration time);
  void ask(std::size_t wish);
  void use(std::size_t wish);
  void act(const model::WorkItem& row);
  [[nodiscard]] Duration between(Duration from, Duration until);
  void lend(const model::WorkRecord& record);
  void check_gangs(const std::set<model::WorkId>& leases, const char* done);
  void check_lent(model::WorkId id, const Lent& lent);
  void check_clean(const std::string& work, model::InstanceId host);
  void check_returned(const model::WorkRecord& record, const Lent& before,
                      const std::set<std::string>& cleaned);
  [[nodiscard]] bool is_lent(model::InstanceId host) const;

  Random random_;
  Timeline& time_;
  const Disk& disk_;
  Post post_;
  Disk::Complain complain_;
  std::vector<Wish> wishes_;
  std::map<model::WorkId, Lent> lent_;
  std::map<model::InstanceId, model::WorkId> used_;  ///< Hosts that were not cleaned after leases.
  std::map<model::WorkId, Term> terms_;
  bool calm_ = false;
  std::optional<Accounts> accounts_;  ///< On days on which they log in.
  std::uint64_t granted_ = 0;
  model::GangCounts gangs_, counted_;  ///< Since the start of the day, and of the daemon.
};

}  // namespace hostler::sim
