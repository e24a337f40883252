#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/base/time.h"
#include "core/model/host.h"
#include "core/model/quotas.h"
#include "core/model/records.h"

/// Copies of the dispatcher's state, for other threads.
namespace hostler::model {

struct WaitingView {
  WaitingCode code = WaitingCode::kPlanning;
  std::string reason;
  std::uint64_t ahead = 0;
};
/// Of one host: how many of its cards are in each state.
struct CardCounts {
  std::int32_t free = 0, used = 0, bad = 0, unknown = 0;
  [[nodiscard]] std::int32_t sum() const { return free + used + bad + unknown; }
  friend bool operator==(const CardCounts&, const CardCounts&) = default;
};
struct CardView {
  Card card;  ///< Of one that has vanished only the UUID is known.
  CardState state = CardState::kFree;
  std::optional<AttemptId> attempt;  ///< That has it.
};
struct InstanceView {
  InstanceRecord record;
  Resources total, used;
  std::vector<AttemptId> attempts;
  std::optional<WorkId> lease;  ///< It is lent to this lease.
  CardCounts card_counts;
  std::vector<CardView> cards;     ///< By index; only where one instance is shown.
  std::optional<CardGuard> guard;  ///< Unset: the host has not told which cards it has.
  std::int32_t uses_max = 0;       ///< So often it may be used; 0: no limit.
  std::optional<StandingKeyAlarm> key_alarm;
  std::optional<Wall> unlisted_since;  ///< Lists omit it since then.
  bool cordoned = false;               ///< It gets no new jobs, because it will be interrupted.
  bool init_failed = false;            ///< Its init command failed, and it is kept.
  /// It gets no new jobs and goes when it is empty: "beyond_max", "off_menu"; empty: it may.
  std::string closed;
  std::vector<std::string> conditions;  ///< What is wrong with it now, in sentences for people.
};
/// The end of what an instance has written to its console, as its cloud reports it.
struct ConsoleView {
  std::string text;           ///< Well-formed lines; disruptive characters are escaped.
  std::optional<Wall> as_of;  ///< When the cloud took it; unset: not known.
  bool cut = false;           ///< There was more before it.
};
/// What a pool that chooses types by their properties finds.
struct SelectionView {
  std::uint64_t offered = 0, selected = 0;  ///< Types of all its sets.
  /// By the first condition that a type does not meet: "vcpus", "no_price".
  std::map<std::string, std::uint64_t> excluded = {};
  std::vector<std::string> unknown = {};  ///< Sets that have not said what they offer.
  std::string text = {};                  ///< All of it, one sentence for people.
};
/// A type that is configured, or chosen of what is offered.
struct TypeView {
  std::string name, provider_type;
  std::string set;  ///< That offers it; empty: it is of the configuration.
  Market market = Market::kOnDemand;
  Resources resources;
  GpuGroups gpu_groups;
  Micros price_per_hour;    ///< That counts in the dearest zone of all sets that have it.
  bool configured = false;  ///< It is the configured one: no cloud has said another.
  std::int64_t ram_for_jobs =
      0;  ///< The least that jobs get of it, in all sets; 0: no pool has it.
  struct Zone {
    std::string name;          ///< Empty: the driver chooses.
    Micros price_per_hour;     ///< That counts in the dearest set.
    bool unavailable = false;  ///< The cloud says that it has none now.
    bool configured = false;   ///< Of the price, likewise.
  };
  std::vector<Zone> zones = {};         ///< In which some pool can buy it.
  std::vector<std::string> pools = {};  ///< That can buy it.
};
/// What a set has said that it offers.
struct OfferingsView {
  std::uint64_t types = 0;  ///< One of two markets counts twice.
  Wall fetched;             ///< The last good answer; 0: none since the start.
  std::string problem;      ///< Of the last answer; empty: it was good.
  std::string ignored;      ///< What of it is not used, and why.
};
/// A bound of a pool that is an expression.
struct BoundView {
  std::string bound;                   ///< "min", "max", "created_min", "created_max".
  std::string expression;              ///< Its text.
  std::optional<double> computed;      ///< What it gives; unset: it is unknown.
  std::optional<std::int64_t> wanted;  ///< Rounded and within the ceiling.
  std::optional<std::int64_t> number;  ///< After all rules; unset: unknown.
  std::vector<std::string> changes;    ///< What each rule changed, for people, in their order.
  std::string from;     ///< What it was computed from: "queue_depth 42"; or the same of `unknown`.
  std::string unknown;  ///< Why `number` is unset; empty: it is not.
};
/// A metric that bounds of a pool use, as it is for them.
struct MetricView {
  std::string name, key;             ///< The key is the value of its label; empty: it has none.
  std::optional<double> value;       ///< Unset: it is unknown, for this reason:
  std::string problem;               ///< "HTTP 500"
  std::optional<double> substitute;  ///< Bounds go by this meanwhile, as `on_failure` says.
  std::optional<Duration> age;       ///< Of the last sample, known or not; unset: there is none.
};
/// How a metric is read, for all its keys together.
struct MetricStatus {
  std::string name;
  bool known = false;           ///< The last reading was good, and none of its samples is too old.
  std::optional<Duration> age;  ///< Of the oldest sample of the last good reading.
  /// How many readings ended so since the start: "ok", "failed", "nan", ...
  std::map<std::string, std::uint64_t> readings = {};
};
struct PoolView {
  std::string name;
  std::int32_t min = 0, max = 0, standby = 0, stopped = 0;
  std::optional<std::int64_t> created_min, created_max;  ///< Unset: there is no such bound.
  std::vector<BoundView> bounds;                         ///< Those that are expressions.
  std::vector<std::string> conditions;             ///< What is wrong now, in sentences for people.
  std::map<std::string, std::uint64_t> instances;  ///< By state's name.
  Micros price_per_hour;
  std::optional<SelectionView> selection;  ///< Unset: it has a list of types.
};
/// A host of a pool that an outside scheduler sizes.
struct PushedHostView {
  InstanceId instance;
  std::string agent;  ///< As the scheduler names it; empty: the name is not known yet.
  std::string state;  ///< "coming", "idle", "busy", "lost", "leaving", "off".
  Wall since;         ///< In that state; 0: not known.
  std::int32_t slots = 0;
  bool is_going = false, is_acknowledged = false;
  std::string reason;  ///< Why it is going; empty: it is not.
};
/// Why no host could be created lately. It stays until a create is accepted where this one failed.
struct LaunchErrorView {
  Wall since;  ///< The first refusal in a row.
  Wall until;  ///< No create is tried before then.
  std::uint32_t refusals = 0;
  std::string message;  ///< The cloud's words.
};
/// Who pushes for a pool.
struct PusherView {
  std::string principal, session;  ///< Of the last push; empty: nobody has pushed yet.
  std::uint64_t sequence = 0, answer = 0;
  std::optional<Duration> age;  ///< Of the last push; unset: none since the start.
};
/// The answer to `GET /v1/pools/{p}/scaling-info`.
struct ScalingInfoView {
  std::string pool;
  PusherView pusher;
  std::string problem;  ///< Why the pool is held: no push, a push that is too old. Or empty.
  std::vector<std::int32_t> slots_per_instance;  ///< Of its types, ascending.
  std::int64_t current_slots = 0;                ///< Of its hosts.
  std::vector<std::string> instance_types;
  std::optional<LaunchErrorView> launch_error;
  std::vector<PushedTask> tasks;
  std::optional<std::int64_t> desired_new;
  std::vector<NeverFits> never_fits;
  std::vector<std::string> unknown_agents;
  std::vector<PushedHostView> instances;
};
/// The driver of a set.
struct DriverView {
  std::string name, version;  ///< The version is empty until the driver was loaded.
  std::string sandbox;        ///< "full", "files" or "none"; empty before its first start.
  std::string memory_limit;   ///< "cgroup", "process" or "none"; empty as above.
  std::string cpu_limit;      ///< "cgroup", "nice" or "none"; empty as above.
  std::string state;          ///< "open", "suspended: two calls hang in list" and so on.
  std::string opening;     ///< "set_open has run for 23 s"; empty: the set is not opened for long.
  std::string last_crash;  ///< How its process ended last without being told to; empty: never.
  std::uint64_t crashes = 0;  ///< Since the daemon started.
  std::uint64_t broken_rules = 0;
  std::string last_broken_rule;
  /// What of the configuration or of the driver's files is not in use, and why, one sentence for
  /// people; empty: nothing.
  std::string pending;
  std::uint64_t draining = 0;  ///< Earlier drivers of the set whose calls are not over.
};
/// What a query of the configuration has found in a set's cloud. Texts are fit to print.
struct ImageView {
  std::string query;
  Image image;        ///< The id is empty: none was ever found.
  Wall found;         ///< When the cloud last said so; 0: never.
  std::string error;  ///< Why the last lookup found none; empty: it found one.
};
/// A thing with our tags that outlived its instance. Texts are fit to print.
struct LeftoverView {
  std::string type, id;
  std::string instance;  ///< The cloud's id of it; empty: not known.
  Wall since;            ///< When a list first showed it so.
  bool confirmed = false, destroying = false;
  std::string error;  ///< Why it could not be destroyed; empty: it could, or was not tried.
};
struct LeftoversView {
  std::string rule;  ///< "report" or "destroy".
  std::size_t found = 0, confirmed = 0, destroying = 0;
  Wall listed;                       ///< The last complete list; 0: none yet.
  std::string error;                 ///< Why the last one failed.
  std::vector<LeftoverView> things;  ///< At most 100.
};
/// A set with all that is to be said of it: each of its members is shown.
struct SetView {
  std::string name;
  std::optional<DriverView> driver;
  bool open = false;
  bool foreign_owner = false;
  std::string problem;              ///< Last error of open or list; empty: none.
  std::uint64_t list = 0;           ///< Number of the last complete list.
  std::vector<InstanceId> missing;  ///< Instances that it omits and should show.
  /// The list is doubted since then: half of the instances or more are missing, or all.
  std::optional<Wall> doubt;
  bool asking = false;  ///< With `doubt`: the cloud has not answered for each of them.
  /// Instances that the last list shows, and that are not adopted yet.
  struct Strangers {
    std::size_t count = 0;
    std::vector<std::string> ids;  ///< In the cloud, of the first of them. Fit to print.
    std::optional<Wall> doubted;   ///< None is adopted since then: they are far too many.
  };
  std::optional<Strangers> strangers;
  /// Hosts became unreachable together then: they are not destroyed for that.
  std::optional<Wall> partition;
  std::string creates_refused;          ///< Why nothing is created in it; empty: it may be.
  std::vector<std::string> conditions;  ///< What else is wrong now, in sentences for people.
  /// Calls in which the driver died, since they last succeeded. `until` is 0 if they are made.
  std::vector<GateRecord> crashes;
  /// "suspended: the driver dies in list, next try ...": why it is not opened or listed now; empty:
  /// it is.
  std::string held;
  std::string account, region;  ///< Those stored; empty: not known. Fit to print.
  std::string jump_host;        ///< "bastion.example:22"; empty: hosts are reached directly.
  struct Reported {
    std::string account, region;  ///< Likewise.
  };
  std::optional<OfferingsView> offerings;  ///< Unset: nobody asks for them.
  std::optional<Reported> reported;  ///< What the cloud reports in their place, until accepted.
  std::optional<LeftoversView> leftovers;  ///< Unset: nobody looks for them.
  struct Watch {
    bool stands = false;        ///< Its driver watches for interruptions now.
    std::string error;          ///< Why it does not.
    std::uint64_t ignored = 0;  ///< Notices that named no instance of the set.
  };
  std::optional<Watch> watch;     ///< Unset: its driver has no watch for interruptions.
  std::vector<ImageView> images;  ///< Of the queries that its creates need.
};
/// The cost from `since` to `until`.
struct CostView {
  struct Row {
    std::string name;  ///< "user ann", "j-42", "h-7", "default": by the grouping asked for.
    Micros cost;
    std::int64_t used_us = 0;  ///< The sum of times that jobs ran, or that instances were on.
  };
  Wall since, until;
  std::optional<Micros> total;           ///< Of all instances; unset: the caller may not see it.
  std::optional<Micros> unused;          ///< Of it, the part that no job used; likewise.
  std::vector<Row> rows;                 ///< The highest cost first.
  bool more = false;                     ///< There are more rows than asked for.
  std::vector<std::string> doubts = {};  ///< Prices that it counts with and that are doubted.
};
/// The limits of a principal and what it has.
struct QuotaView {
  std::string principal;
  Role role = Role::kSubmit;
  Quota quota;
  std::uint64_t jobs_waiting = 0, shapes_waiting = 0, submits_last_minute = 0;
  std::uint64_t blob_bytes = 0, output_bytes = 0;
  Vcpus running_vcpus;
  std::int64_t running_gpus = 0;
  Micros running_price_per_hour;
};
/// What one principal has used lately, and holds now.
struct ShareView {
  std::string principal;
  Micros use;                              ///< Decayed by the half-life of fair shares.
  double part = 0;                         ///< Of the use of all principals: 0 to 1.
  Micros price_per_hour;                   ///< Of the parts of hosts that it holds now.
  Vcpus vcpus;                             ///< That it holds now.
  std::int64_t gpus = 0;                   ///< Likewise.
  std::uint64_t running = 0, waiting = 0;  ///< Jobs.
  std::optional<Vcpus> vcpus_max = {};     ///< What it may hold; unset: no limit.
  std::optional<std::int64_t> gpus_max = {};
  std::optional<Micros> price_per_hour_max = {};
};
struct SharesView {
  Duration half_life{};
  Micros use;                         ///< Of all principals.
  std::vector<ShareView> principals;  ///< The next turn first: of least use.
};
/// Whose turn comes before that of a job that waits.
struct TurnView {
  std::string principal;
  double part = 0;  ///< As in ShareView.
  std::int32_t priority = 0;
  std::uint64_t before = 0;  ///< Other principals with work of this priority whose turn is before.
};
struct RejectedView {
  std::string type, zone, market, pool, reason;
};

/// Waiting work of one shape: jobs and leases, or tasks of an outside scheduler.
struct DemandView {
  std::uint64_t jobs = 0, tasks = 0;  ///< One of them is 0.
  Resources needs;
  GpuWish gpu;  ///< Of each card that it needs.
  WaitingView waiting;
};
/// The reasons for the state of a job, pool or gate. Fields that do not apply are empty.
struct ReasonsView {
  std::vector<DemandView> demand;       ///< Jobs that it may serve, or holds back; by priority.
  std::size_t shapes_not_examined = 0;  ///< Shapes that come after those that were looked at.
  std::vector<RejectedView>
      rejected;                     ///< Offerings that the last plan did not buy, or may not buy.
  std::string ceiling;              ///< The ceiling that forbids one more instance.
  std::vector<MetricView> metrics;  ///< Of a pool: those that its bounds use.
  std::vector<LedgerRecord>
      decisions;  ///< The scheduler's last ones since the start; oldest first.
};

/// Counts of gangs: one is granted once, with its last lease, and may let its hosts go several
/// times.
struct GangCounts {
  std::uint64_t granted = 0, let_go = 0, refused = 0;
};
/// Counts for metrics and health.
struct Totals {
  std::array<std::uint64_t, kLiveStates.size()> jobs{}, leases{};          ///< As kLiveStates.
  std::map<std::pair<std::string, std::string>, std::uint64_t> instances;  ///< (state, type)
  GangCounts gangs;                                                        ///< Since the start.
  Micros price_per_hour;
  std::size_t collecting_hosts = 0;  ///< With output that is still to come.
  std::size_t waiting_outputs = 0;   ///< Jobs whose output has no room here.
  Micros collecting_price_per_hour;  ///< Of these hosts.
  Duration oldest_wait{};
  std::map<WaitingCode, std::uint64_t> waiting;  ///< Queued jobs by why they wait.
};

}  // namespace hostler::model
