#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/base/random.h"
#include "core/dispatch/dispatcher.h"
#include "tests/sim/borrowers.h"
#include "tests/sim/consoles.h"
#include "tests/sim/crashing_driver.h"
#include "tests/sim/crowd_cloud.h"
#include "tests/sim/decisions.h"
#include "tests/sim/hosts.h"
#include "tests/sim/image_cloud.h"
#include "tests/sim/leftover_cloud.h"
#include "tests/sim/metric_days.h"
#include "tests/sim/notice_cloud.h"
#include "tests/sim/offerings.h"
#include "tests/sim/pool_days.h"
#include "tests/sim/push_days.h"
#include "tests/sim/stopped_machines.h"
#include "tests/sim/trace.h"

namespace hostler::sim {

constexpr std::int64_t kGiB = std::int64_t{1} << 30;

/// Counts of one simulated day.
struct Tally {
  std::uint64_t jobs = 0, instances = 0, events = 0, plans = 0, commits = 0, starts_of_daemon = 0;
  std::uint64_t unused = 0;  ///< Instances that have never run a job.
  std::uint64_t leases = 0;  ///< That were granted.
  std::uint64_t logins = 0;  ///< Of these, with a login.
  model::GangCounts gangs;
  CardTally cards;
  std::size_t machines_at_once = 0;  ///< The highest number at any time.
  Duration machine_time{};           ///< Of all machines together.
};

/// A site generated from one seed: the real kernel and planner, with a simulated cloud, hosts,
/// disk, users and clock. run() returns the first broken rule, or nothing.
class World {
 public:
  explicit World(std::uint64_t seed, const Day& day = {});
  [[nodiscard]] std::optional<std::string> run();
  [[nodiscard]] Tally tally() const;

 private:
  struct Wish {  ///< A submit that is repeated until it is answered.
    std::string key, principal;
    model::WorkShape shape;
    bool answered = false;
    model::WorkId job;
    std::set<model::WorkId> past;  ///< Jobs with its client key that are forgotten.
  };

  void make_policy();
  void make_ceilings();
  void make_limits();
  void make_offerings();
  void make_people();
  void make_greedy_user();
  void make_faults();
  void make_false_lists();
  void make_driver();
  void make_images();
  void make_leftovers();
  void make_notices();
  void make_metrics();
  void read_metrics();
  void make_pushes();
  void make_crowd();
  void make_borrowers();
  void believe_crowd();
  void hear_cloud(const dispatch::Event& event);
  void hear_list(const dispatch::SetListed& list);
  void check_list_before_create(const dispatch::CreateCall& call);
  void ask(const std::string& question);
  void load_driver();
  void start();
  void kill();
  void post(dispatch::Event event);
  void take(dispatch::Outbox outbox, const Cause& cause = {});
  void commit();
  void carry_out(const dispatch::Effect& effect);
  /// True: the driver dies in the call that the effect makes.
  bool dies_in(const dispatch::Effect& effect);
  void open_gates_of_crashes();
  void go_mad(scheduler::Plan& plan, const scheduler::Snapshot& snapshot);
  void plan_next_tick();
  void check_time_passes();
  void tick();
  void tidy();
  void submit(std::size_t wish);
  void submit_beside_drain();
  void submit_past(const std::vector<model::WorkId>& forgotten);
  void submit_greedily();
  bool is_greedy(const dispatch::Reply& answer);
  void hear(const dispatch::Reply& answer);
  void meddle();
  void release_holds();
  void close_down();
  void make_give_ups();
  bool is_give_up(const dispatch::Reply& answer);
  void make_reloads();
  void reload();
  void make_old_state();
  [[nodiscard]] Random fate_of_disk() const;
  /// On this day an old copy of the disk is put back.
  [[nodiscard]] bool has_old_state() const;
  void lose_disk();
  void settle_restored();
  void check_end();
  void check_shares();
  void check_ram();
  [[nodiscard]] model::Vcpus held_vcpus(const model::WorkItem& row) const;
  void check_limits(const dispatch::Outbox& committed);
  void check_ended(const model::WorkItem& row);
  [[nodiscard]] bool over();
  [[nodiscard]] Now now() const;
  void complain(const std::string& what);
  void note(const std::string& what);
  [[nodiscard]] bool is_noting() const { return trace_ || has_digest_; }

  const std::uint64_t seed_;
  const Day day_;
  Chance chance_;
  Timeline time_;
  Duration mono_ahead_{}, wall_ahead_{};
  std::optional<std::string> complaint_;
  model::SitePolicy policy_;
  Disk disk_;
  std::unique_ptr<Disk> backup_;
  Cloud cloud_;
  Consoles consoles_;
  Commands commands_;
  Hosts hosts_;
  PoolDays pool_days_;
  Decisions decisions_;
  StoppedMachines stopped_;
  Mono creates_until_{};                    ///< Then the last good list is too old for creates.
  std::optional<CrashingDriver> driver_;    ///< On days on which it dies.
  std::optional<LeftoverCloud> leftovers_;  ///< On days on which disks are left.
  std::optional<NoticeCloud> notices_;      ///< On days on which the cloud takes machines back.
  std::optional<MetricDays> metrics_;       ///< On days on which bounds are expressions.
  std::optional<PushDays> pushes_;          ///< On days on which outside schedulers size pools.
  std::optional<CrowdCloud> crowd_;         ///< On days on which lists show far too many machines.
  std::optional<ImageCloud> images_;        ///< On days on which the site names its image.
  std::optional<Borrowers> borrowers_;      ///< On days on which the pool lends hosts.
  std::optional<Offerings> offerings_;      ///< On days on which the pool chooses types.
  std::set<std::string> awaited_;           ///< Periodic questions whose answer is to come.
  std::unique_ptr<dispatch::Dispatcher> kernel_;
  std::uint64_t generation_ = 0;
  std::vector<dispatch::Outbox> uncommitted_;
  bool committing_ = false;
  Mono tick_at_ = Mono::max();
  Mono ticked_at_ = Mono::min();
  int ticks_now_ = 0;  ///< At this moment.
  std::vector<Wish> wishes_;
  std::map<model::WorkId, std::size_t> wish_of_;  ///< Of answered submits.
  Random greed_;  ///< The choices of the greedy user, apart from those of all others.
  bool short_disks_, short_ram_;
  Tally tally_;
  bool calm_ = false;  ///< Faults and requests have ended.
  const bool trace_, has_digest_;
  Digest digest_;
};

}  // namespace hostler::sim
