#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "core/base/random.h"
#include "core/dispatch/client_keys.h"
#include "core/dispatch/events.h"
#include "core/fleet/step.h"
#include "core/model/views.h"
#include "core/pricing/book.h"
#include "core/scheduler/gates.h"
#include "core/scheduler/governor.h"
#include "core/scheduler/plan.h"
#include "core/scheduler/queue.h"
#include "core/work/step.h"

/// The kernel: fleet, work and scheduler as one state machine, the same in the daemon and in the
/// simulation. Events go in, changes and effects come out; it calls nothing and knows no clock.
namespace hostler::dispatch {

/// Fills in what a create needs of chance and secrets: idempotency key, host key, challenge
/// secret, user data, SSH keys. The daemon uses crypto, the simulation its seed.
using Mint =
    std::function<void(const model::PoolPolicy&, const std::string& set, const model::SetInfo&,
                       model::CreateRequest&, model::HostIdentity&)>;

struct Options {
  std::vector<std::string> take_over_sets;  ///< Adopt these sets' instances of a foreign owner.
  std::uint64_t seed = 1;                   ///< Of jitter.
};

/// Before restore(): that every instance of the journal has its set and its pool in the policy,
/// else an error that names one. A machine that nobody looks after would cost on unseen.
[[nodiscard]] Result<void> check_homes(const model::Restored& restored,
                                       const model::SitePolicy& policy);

/// Threads: none of its own, not thread-safe; the loop owns it. Every call is of the order of what
/// it changes; of all hosts where a list, the opening of a set or a policy comes in, or a plan
/// switches hosts off. tick() with a plan due copies a snapshot (hosts + classes + offerings).
class Dispatcher {
 public:
  Dispatcher(model::SitePolicy policy, Mint mint, Options options);

  /// Once, first: takes up what the journal knew, opens the sets.
  Outbox restore(model::Restored restored, Now now);
  Outbox apply(Event event, Now now);
  /// Fires what is due; call at next_wake() or later, as often as you like.
  Outbox tick(Now now);
  [[nodiscard]] Mono next_wake() const;

  [[nodiscard]] const model::SitePolicy& policy() const { return policy_; }
  [[nodiscard]] model::Revision revision() const { return revision_; }
  [[nodiscard]] std::optional<model::WaitingView> waiting(model::WorkId job) const;
  /// Of those that are queued. Goes through the queue's classes once: not for each of many.
  [[nodiscard]] std::map<model::WorkId, model::WaitingView> waiting(
      const std::vector<model::WorkId>& jobs) const;
  [[nodiscard]] std::vector<model::RejectedView> rejected(model::WorkId job) const;
  /// Nothing where there is no such pool or shut gate.
  [[nodiscard]] std::optional<model::ReasonsView> reasons_of_pool(const std::string& name,
                                                                  Mono now) const;
  [[nodiscard]] std::optional<model::ReasonsView> reasons_of_gate(const std::string& key,
                                                                  Mono now) const;
  [[nodiscard]] std::vector<model::InstanceView> instances() const;
  [[nodiscard]] std::optional<model::InstanceView> instance(model::InstanceId id) const;
  [[nodiscard]] std::vector<model::PoolView> pools() const;
  [[nodiscard]] std::vector<model::SetView> sets() const;
  /// Those that hold calls back now; more are remembered, which only count, or let a call try.
  [[nodiscard]] std::vector<model::GateRecord> gates(Mono now) const;
  [[nodiscard]] model::Totals totals(Mono now) const;
  /// Nothing waits, runs or is being collected, and no instance is left.
  [[nodiscard]] bool at_rest() const { return jobs_.empty() && hosts_.empty(); }
  /// Not even one that was given up and whose set has left the configuration since.
  [[nodiscard]] bool has_no_instances() const { return hosts_.empty() && !has_orphans_; }

 private:
  struct Live {  ///< An attempt on a host.
    model::AttemptId attempt;
    std::string boot_id;
    std::uint64_t sequence = 0;
    model::Resources needs;
    bool collecting = false;
  };
  struct Host {
    fleet::Instance instance;
    std::shared_ptr<const model::CreateRequest> create;
    std::vector<Live> attempts;
    std::optional<scheduler::ClassId> reserved_for;
    std::vector<scheduler::Load> load;           ///< What its create was for.
    std::optional<model::Micros> counted_price;  ///< As the governor has it; unset: not at all.
    /// Calls under way, by what their gates were asked: the record may have changed at the answer.
    std::optional<scheduler::GateQuery> create_under_way, destroy_under_way, power_under_way;
  };
  struct Set {
    std::string name;
    bool open = false, opening = false, listing = false, foreign = false;
    model::SetInfo info;
    Mono list_at = fleet::kNever, open_at = fleet::kNever, prices_at = fleet::kNever;
    Mono list_sent{};         ///< The last one.
    std::int64_t listed = 0;  ///< Instances in it, ours or not.
    std::uint32_t failures = 0;
    std::string problem;
  };

  // restore.cc
  void restore(model::InstanceChanged row, Now now);
  void restore(model::WorkItem row, Now now);
  void restore(const model::AttemptChanged& row);
  /// Jobs whose attempt is on no host any more.
  void lose_homeless(Now now);
  void adopt_all(Now now);

  // clouds.cc
  void on(SetOpened& event, Now now);
  void send_destroy(Host& host, Now now);
  void on(DestroyEnded& event, Now now);
  void send_tags(const Host& host);
  void on(TagsEnded& event, Now now);

  // gates.cc
  void refused(const scheduler::GateQuery& query, const model::CloudError& error, Now now);
  void passed(const scheduler::GateQuery& query, Now now);
  void opened(const char* actor, std::vector<std::string> gates, const std::string& why, Now now);
  /// Of a create.
  [[nodiscard]] scheduler::GateQuery gate_query(const scheduler::Offering& offering) const;
  [[nodiscard]] scheduler::GateQuery gate_query(const Host& host, model::CloudOp op) const;

  // creates.cc
  void carry_out(const scheduler::Create& create, Now now);
  /// Adds to the record what is made with it: how the host will prove itself, the create's key.
  [[nodiscard]] std::shared_ptr<model::CreateRequest> create_request(
      const scheduler::Offering& offering, model::InstanceRecord& record) const;
  void send_create(Host& host, Now now);
  /// Until when creates that anew would pass the ceiling of their rate; nothing: it would not.
  [[nodiscard]] std::optional<Mono> rate_bounds(const Host& host, Mono now) const;
  void on(CreateSeen& event, Now now);
  void on(CreateEnded& event, Now now);

  // lists.cc
  /// At `at`, or later: when the last list is as long ago as its driver asks for, or its size.
  void want_list(std::uint32_t set, Mono at);
  void send_list(std::uint32_t set, Now now);
  void on(SetListed& event, Now now);
  /// A machine in a list, and which instance it is, if known.
  struct Sighting {
    const model::ListedInstance* seen;
    std::optional<model::InstanceId> known;
  };
  /// All that are not gone, without requests that are shown beside what they have become.
  [[nodiscard]] std::vector<Sighting> recognise(
      const Set& set, const std::vector<model::ListedInstance>& all) const;
  /// As which instance it is known from now on.
  std::optional<model::InstanceId> take_listed(Set& set, const Sighting& sighting, Mono as_of,
                                               Now now);
  std::optional<model::InstanceId> adopt_stranger(Set& set, const model::ListedInstance& seen,
                                                  Mono as_of, Now now);
  [[nodiscard]] std::optional<model::InstanceId> known_as(const std::string& set,
                                                          const model::ListedInstance& seen) const;
  /// To be recognised in lists by its key, or by its id where it has none.
  void remember(const model::InstanceRecord& record);
  void forget(const model::InstanceRecord& record);

  // duplicates.cc
  /// What is ended is known as an instance of its own afterwards.
  void end_duplicates(const Set& set, std::vector<Sighting>& all, Now now);
  void end_duplicate(const Host& of, const model::ListedInstance& seen, const std::string& kept,
                     Now now);
  /// It is the machine that the record names, or what has become of that spot request.
  static bool is_recorded(const model::InstanceRecord& record, const model::ListedInstance& seen);

  // prices.cc
  void ask_for_prices(std::uint32_t set, Now now);
  void on(PricesSeen& event, Now now);
  /// As its cloud says, else the menu.
  [[nodiscard]] model::Micros price_of(std::uint32_t set, std::uint32_t type,
                                       const std::string& zone, model::Market market) const;

  // power.cc
  void carry_out(scheduler::Wake wake, Now now);
  void carry_out(const std::vector<scheduler::SwitchOff>& all, Now now);
  void send_power(Host& host, model::CloudOp op, Now now);
  void on(PowerEnded& event, Now now);
  /// Such instances can be switched off and on, as far as their cloud says.
  [[nodiscard]] bool has_power(std::uint32_t set, model::Market market) const;
  /// And nothing has shown that those of the type cannot.
  [[nodiscard]] bool can_stop(std::uint32_t set, const std::string& type,
                              model::Market market) const;
  /// As if no gate were shut.
  [[nodiscard]] bool can_wake(const Host& host) const;
  void never_stops(const Host& host, const model::CloudError& error, Now now);

  // hosts.cc
  void on(model::HostEvent& event, Now now);
  void hear(Host& host, const model::HostNotYet& said, Now now);
  void hear(Host& host, const model::HostVerified& said, Now now);
  void hear(Host& host, const model::HostKeyAlarm& said, Now now);
  void hear(Host& host, const model::RotationProposed& said, Now now);
  void hear(Host& host, const model::RotationEnded& said, Now now);
  void hear(Host& host, const model::HostReady& said, Now now);
  void hear(Host& host, const model::HostLost& said, Now now);
  void hear(Host& host, const model::HostBroken& said, Now now);
  void hear(Host& host, const model::HostInterruption& said, Now now);
  void settle(Host& host, fleet::Outcome outcome, const char* actor, Now now);
  void carry_out(fleet::Effect effect, Host& host, Duration list_after, Now now);
  /// The governor's account of the host's price is brought up to date.
  void count(Host& host);
  /// Of the next number, which stays the next until the host is added.
  [[nodiscard]] Host new_host(std::uint32_t set, std::uint32_t pool, Now now) const;
  Host& add(Host made);
  void gone(model::InstanceId id, Now now);
  [[nodiscard]] model::HostTarget target(const Host& host) const;
  /// To be changed: it is looked at again at the end.
  Host* change(model::InstanceId id);
  [[nodiscard]] const Host* find(model::InstanceId id) const;

  // attempts.cc
  bool place(Host& host, scheduler::ClassId cls, Now now);
  void fill(Host& host, Now now);
  void hear(Host& host, const model::AttemptStarted& said, Now now);
  void hear(Host& host, const model::AttemptRefused& said, Now now);
  void hear(Host& host, const model::AttemptExited& said, Now now);
  void hear(Host& host, const model::AttemptCollected& said, Now now);
  void compare_attempts(Host& host, const model::HostReady& report, Now now);
  void acknowledge(const Host& host, model::AttemptId attempt);
  /// Detaches, and journals that nothing more is expected of the attempt; if it is lost while it
  /// runs also its times, as its job will know those of the next. Before the job is settled.
  void finish(Host& host, model::AttemptId attempt, Now now);
  void detach(Host& host, model::AttemptId attempt);
  void release(Host& host, Live& live);
  static Live* live(Host& host, model::AttemptId attempt);
  static model::AttemptChanged row_of(const Host& host, const Live& live);
  work::Job* job_of(model::AttemptId attempt);

  // jobs.cc
  void on(Submit& event, Now now);
  [[nodiscard]] Result<void> check(const Submit& event) const;
  model::WorkId take(model::WorkItem item, const std::string& by, Now now);
  void on(CancelWork& event, Now now);
  void on(WorkForgotten& event, Now now);
  void settle(work::Job& job, work::Outcome outcome, Now now);
  work::Job* job(model::WorkId id);
  [[nodiscard]] std::uint32_t principal(const std::string& name);

  // people.cc
  void on(SetIdleBehavior& event, Now now);
  void on(KillInstance& event, Now now);
  void on(PolicyChanged& event, Now now);
  void reply(Ticket ticket, Result<std::vector<model::WorkId>> result);

  // planning.cc
  void plan(Now now);
  void plan_soon() { plan_wanted_ = true; }
  void on(PlanMade& event, Now now);
  void carry_out(const scheduler::Place& of, Now now);
  void carry_out(const scheduler::Shutdown& shutdown, Now now);
  [[nodiscard]] bool still_holds(const scheduler::Shutdown& shutdown, const Host& host,
                                 Now now) const;

  // snapshot.cc
  [[nodiscard]] std::shared_ptr<scheduler::Snapshot> snapshot(Now now);
  /// Returns when time alone makes another plan worth making, or a moment before that.
  Mono view_hosts(scheduler::Snapshot& out, Now now) const;
  /// As if no gate were shut.
  [[nodiscard]] scheduler::HostView view(const Host& host) const;
  [[nodiscard]] scheduler::ClassView view(scheduler::ClassId id) const;
  /// Looks again at every host that was touched, and asks for a plan if one looks otherwise to the
  /// planner. Before each plan, and at the end of each call.
  void look_at_touched();
  /// After a change of what view() reads besides the host: its set, unstoppable_, the policy.
  void touch_all();

  // offerings.cc
  void build_offerings();
  /// Index into offerings_; UINT32_MAX: none.
  [[nodiscard]] std::uint32_t offering_of(const fleet::Instance& instance) const;
  /// Returns as view_hosts() does.
  Mono view_offerings(scheduler::Snapshot& out, Now now) const;

  // views.cc, reasons.cc
  [[nodiscard]] model::InstanceView instance_view(const Host& host) const;
  [[nodiscard]] model::RejectedView rejected_view(const scheduler::Offering& offering,
                                                  std::string reason) const;
  [[nodiscard]] model::DemandView demand_view(scheduler::ClassId cls) const;
  [[nodiscard]] std::string ceiling_of(std::uint32_t pool, Mono now) const;
  /// What was recorded last is kept as a decision about the pool.
  void decided(std::uint32_t pool);

  // dispatcher.cc
  void fire_timers(Now now);
  /// What there is to say and to do, once all of an event or of a moment is dealt with.
  Outbox take_outbox();
  void schedule(Host& host);
  model::Revision record(const char* actor, std::string subject, model::Event event,
                         std::string code, std::string reason, Now now);
  [[nodiscard]] std::optional<std::uint32_t> set_index(const std::string& name) const;
  [[nodiscard]] std::optional<std::uint32_t> type_index(const std::string& name) const;

  model::SitePolicy policy_;
  std::shared_ptr<const model::SitePolicy> plan_policy_;  ///< The same, for whoever makes plans.
  Mint mint_;
  Options options_;
  Random random_;
  std::string owner_;
  std::uint64_t epoch_ = 0;
  model::Revision revision_ = 0;
  std::uint64_t last_work_ = 0, last_instance_ = 0, last_arrival_ = 0;

  std::vector<Set> sets_;  ///< By index into policy_.sets.
  /// By set: types that it has refused to stop for good. Until the configuration is read again.
  std::set<std::pair<std::uint32_t, std::string>> unstoppable_;
  std::map<model::InstanceId, Host> hosts_;
  bool has_orphans_ = false;  ///< The journal has some whose set is gone.
  std::unordered_map<std::string, model::InstanceId> by_key_;  ///< Of all sets.
  std::map<std::tuple<std::string, std::string>, model::InstanceId, std::less<>>
      keyless_;  ///< By set and id.
  std::vector<scheduler::HostView>
      views_;  ///< Of the hosts, by id; can_wake as if no gate were shut.
  std::vector<model::InstanceId> touched_;   ///< Changed, perhaps; not looked at since.
  std::vector<model::InstanceId> reserved_;  ///< Those with reserved_for.
  std::set<std::pair<Mono, model::InstanceId>> timers_;
  std::map<model::InstanceId, Mono> timer_of_;

  std::unordered_map<model::WorkId, work::Job> jobs_;
  std::array<std::uint64_t, 4> job_counts_{};  ///< queued, starting, running, collecting
  ClientKeys client_keys_;
  std::vector<std::string> principals_;

  scheduler::Queue queue_;
  scheduler::Gates gates_;
  scheduler::Governor governor_;
  std::vector<scheduler::Offering>
      offerings_;  ///< By policy and prices; `shut` is set in snapshots.
  /// Pools may share a set and a type, but neither caps nor timers.
  using OfferingKey = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::string>;
  std::map<OfferingKey, std::uint32_t, std::less<>> offering_index_;  ///< Pool, set, type, zone.

  pricing::Book prices_;

  bool plan_wanted_ = true;
  bool planning_ = false;
  std::uint64_t plan_number_ = 0;
  Mono plan_not_before_{};
  Mono plan_wake_ = fleet::kNever;  ///< When time alone makes a new plan worth making.
  std::map<scheduler::ClassId, scheduler::Waiting> waiting_;
  std::map<scheduler::ClassId, std::vector<scheduler::Rejected>> rejected_;
  std::map<std::uint32_t, std::deque<model::LedgerRecord>> decisions_;  ///< By pool.

  Outbox out_;  ///< Of the call under way.
};

}  // namespace hostler::dispatch
