#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/base/random.h"
#include "core/dispatch/events.h"
#include "core/model/policy.h"
#include "tests/sim/chance.h"
#include "tests/sim/disk.h"
#include "tests/sim/offerings.h"

namespace hostler::sim {

/// A list shows a change after this time at most, unless lists lie.
constexpr Duration kConsistency = 2s;

model::CloudError error(model::CloudErrorClass cls, std::string message, bool unknown = false);

/// One attempt on a machine, as its agent knows it.
struct Run {
  std::uint64_t sequence = 0;
  bool running = true, lost_track = false;
  Mono began;
  model::Resources needs;
  std::vector<std::string> cards = {};  ///< UUIDs of those that it was given.
  model::AttemptEnd end;
};

/// A machine in the cloud and the agent on it.
struct Machine {
  std::string id, request_id;
  model::CreateRequest request;
  model::InstanceId instance;
  model::CloudState state = model::CloudState::kPending;
  Mono created, ready_at;
  bool never_boots = false;
  bool lacks_stock = false;  ///< Its create was accepted, and then it failed of that.
  bool half_made = false;    ///< Its create was cut off: it stays pending until that is repeated.
  bool doubled = false;      ///< One of several machines made by one create.
  bool unasked = false;      ///< Made by a call that was given up, after the others were destroyed.
  bool loses_power_at_start = false;  ///< When its next attempt starts.
  std::string host_key;
  // State of the agent.
  std::uint64_t boots = 1;
  std::uint64_t last_sequence = 0;
  std::int64_t scratch = INT64_MAX, ram = INT64_MAX;  ///< What it has reported.
  std::uint64_t connection = 0;  ///< The newest connection that it has answered.
  std::map<model::AttemptId, Run> runs;

  [[nodiscard]] bool exists() const { return state != model::CloudState::kGone; }
  [[nodiscard]] std::string boot_id() const { return id + "/boot" + std::to_string(boots); }
  [[nodiscard]] bool works() const;
};

/// A cloud account behind a driver. Creates are idempotent by key, or only as far as a list before
/// the create shows. It answers late, refuses calls, loses answers and machines, lists machines too
/// early, and hides others from lists.
class Cloud {
 public:
  /// Delivers an event to the daemon that made the call. It is lost if that daemon is dead by then.
  using Reply = std::function<void(Duration, dispatch::Event)>;

  Cloud(Timeline& time, Chance& chance, const Day& day, const model::SitePolicy& policy,
        const Disk& disk, Disk::Complain complain)
      : time_(time),
        chance_(chance),
        fleet_(day.fleet),
        quota_(static_cast<std::size_t>(day.fleet) + 1),
        list_interval_min_(day.list_interval_min),
        policy_(policy),
        disk_(disk),
        complain_(std::move(complain)),
        has_power_(chance.chance(0.8)),
        has_prices_(chance.chance(0.5)),
        has_tokens_(chance.chance(0.7)) {}

  void open(const dispatch::OpenSet& call, bool has_console, bool has_leftovers,
            const Reply& reply);
  void create(const dispatch::CreateCall& call, const Reply& reply);
  void list(const dispatch::ListCall& call, const Reply& reply);
  /// Answers by id are true, though they may be late or refused; if not let_ids_lie().
  void look_up(const dispatch::LookUpCall& call, const Reply& reply);
  void destroy(const dispatch::DestroyCall& call, const Reply& reply);
  void set_tags(const dispatch::TagsCall& call, const Reply& reply);
  void power(const dispatch::PowerCall& call, const Reply& reply);
  void prices(const dispatch::PricesCall& call, const Reply& reply);

  /// While lists are empty or omit half, so do look-ups by id: only connections tell the truth.
  void let_ids_lie() { ids_lie_ = true; }
  /// Lists lie for this time, each spell in its own way.
  void lie(Duration spell);
  /// Lists that are asked for in this time have no answer until the daemon gives them up.
  void hang(Duration spell) { hangs_until_ = time_.now() + spell; }
  /// From now on one list in so many shows a machine that works as stopped, and the next one does
  /// not.
  void show_as_stopped(Random choices) { false_stops_ = choices; }
  /// Says on which machines outside schedulers run tasks: lists show those as stopped as well.
  void show_tasks(std::function<bool(const Machine&)> runs) { runs_tasks_ = std::move(runs); }
  /// Machines that are made in this time fail before they boot, in half of the spells for want of
  /// stock.
  void be_barren(Duration spell) {
    barren_until_ = time_.now() + spell;
    lacks_stock_ = spell.count() / 2 % 2 == 0;
  }
  /// The machine is connected: hosts of its kind come up.
  void came_up(const Machine& machine);
  /// A new machine that came up is not what its type says: that may shut a gate for creates.
  void is_unfit() { create_failed_ = time_.now(); }
  /// It sells what these say, at their prices.
  void sell(const Offerings& offerings) { offerings_ = &offerings; }
  /// A daemon starts, to which no price has been said yet.
  void daemon_started();
  /// A daemon starts, which knows nothing of earlier boots.
  void forget_boots() { boots_.clear(); }
  /// The daemon may hold back calls, also those that show it a machine.
  void driver_died() { create_failed_ = time_.now(); }
  /// Lets a machine die, fail, reboot or lose power, at once or when its next attempt starts.
  void misfortune();
  /// Ends all that runs. The log does not know attempts that have just started: it was not synced.
  void lose_power(Machine& machine);
  [[nodiscard]] Machine* at(const std::string& address);
  /// The machine is known as another instance now: the journal had lost it.
  void hand_over(Machine& machine, model::InstanceId instance);
  /// What it has announced: the machine goes, is switched off, or boots anew.
  void take_back(Machine& machine, model::InterruptionAction action);
  /// Says which lists announce.
  void announce(std::function<Wall(const Machine&)> listed) { announced_ = std::move(listed); }
  /// Adds to each list what nobody has asked for.
  void crowd(std::function<void(std::vector<model::ListedInstance>&)> add) {
    crowd_ = std::move(add);
  }
  /// A machine that was made for the instance.
  [[nodiscard]] bool has(model::InstanceId instance) const { return asked_for_.contains(instance); }
  /// All that were ever made.
  [[nodiscard]] const std::vector<std::unique_ptr<Machine>>& machines() const { return machines_; }
  [[nodiscard]] std::size_t alive() const { return living_.size(); }
  /// The lifetimes of all machines that are gone, added up.
  [[nodiscard]] Duration lived() const { return lived_; }

 private:
  Machine& make(const model::CreateRequest& request, bool looks_first, bool cut_off = false);
  [[nodiscard]] Machine* made_before(const model::CreateRequest& request, bool looks_first);
  /// Ids and addresses end with the machine's number.
  [[nodiscard]] Machine* numbered(const std::string& name) const;
  /// Finds a machine by its id or the id of its request.
  [[nodiscard]] Machine* existing(const std::string& id) const;
  void fulfil(Machine& machine);
  void end(Machine& machine);
  void switch_off(Machine& machine);
  void switch_on(Machine& machine);
  void check_power(const Machine& machine, const dispatch::PowerCall& call);
  void check_create(const dispatch::CreateCall& call);
  void check_price_is_known(const std::string& type);
  void check_boots(const Machine& made);
  void check_ceilings();
  [[nodiscard]] std::vector<const Machine*> counted() const;
  /// A machine that the daemon ends by its own will, or for an admin, is no failed boot.
  void forget_boot(const Machine& machine, const dispatch::DestroyCall& call);
  [[nodiscard]] bool may_be(const Machine& machine, model::InstanceId instance) const;
  void check_destroy(const Machine& machine, const dispatch::DestroyCall& call);
  [[nodiscard]] std::optional<model::CloudError> refusal();
  [[nodiscard]] std::int64_t least_price(const model::CreateRequest& request) const;
  [[nodiscard]] model::ListedInstance show(const Machine& machine) const;
  Duration latency();
  [[nodiscard]] bool lies() const { return time_.now() < lies_until_ && chance_.faults(); }
  /// What a list shows while lists lie.
  void distort(std::vector<model::ListedInstance>& list);
  void shuffle(std::vector<model::ListedInstance>& list);
  void stop_falsely(std::vector<model::ListedInstance>& list);

  Timeline& time_;
  Chance& chance_;
  const std::int32_t fleet_;  ///< The `max` of the pool.
  const std::size_t quota_;   ///< The largest number of machines.
  const Duration list_interval_min_;
  const model::SitePolicy& policy_;
  const Disk& disk_;
  Disk::Complain complain_;
  const bool has_power_, has_prices_;
  const bool has_tokens_;  ///< The cloud knows keys: a repeated create makes no second machine.
  const Offerings* offerings_ = nullptr;
  std::function<Wall(const Machine&)> announced_;
  std::function<bool(const Machine&)> runs_tasks_;
  std::function<void(std::vector<model::ListedInstance>&)> crowd_;
  std::vector<std::unique_ptr<Machine>> machines_;  ///< All machines ever made, by number from 1.
  std::vector<Machine*> living_;                    ///< In the order of creation.
  std::map<model::InstanceId, int> asked_for_;      ///< The number of living machines made for it.
  std::map<std::string, std::vector<Machine*>> made_of_;  ///< By key.
  Duration lived_{};
  enum class Lie { kEmpty, kHalf, kSome, kDoubled, kPast };
  Lie lie_{};
  bool ids_lie_ = false;
  bool lacks_stock_ = false;
  Mono lies_until_{}, barren_until_{}, hangs_until_{};
  std::optional<Random> false_stops_;
  std::string shown_as_stopped_;  ///< By the last list.
  std::uint64_t lists_ = 0;
  Mono create_failed_{};  ///< When a create last failed, or was made impossible.
  struct Boots {
    Mono first;  ///< When the first of them was made.
    std::set<const Machine*> machines;
  };
  /// By type with its image, and zone: machines that this daemon has asked for since one of the
  /// kind came up.
  std::map<std::pair<std::string, std::string>, Boots> boots_;
  std::map<std::string, model::CreateRequest> asked_;  ///< By key; a repeat must be equal.
  std::map<std::pair<std::string, std::string>, std::int64_t> least_said_;  ///< By type and zone.
  std::set<std::string> prices_said_;  ///< Types, to the daemon that runs.
  Mono price_patience_ends_{};
};

}  // namespace hostler::sim
