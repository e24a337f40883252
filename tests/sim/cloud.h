#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/dispatch/events.h"
#include "core/model/policy.h"
#include "tests/sim/chance.h"
#include "tests/sim/disk.h"

namespace hostler::sim {

/// One try of a job on a machine, as its agent knows it.
struct Run {
  std::uint64_t sequence = 0;
  bool running = true, lost_track = false;
  Mono began;
  model::Resources needs;
  model::AttemptEnd end;
};

/// A machine in the cloud and the agent on it.
struct Machine {
  std::string id, request_id;
  model::CreateRequest request;
  model::InstanceId instance;
  model::CloudState state = model::CloudState::kPending;
  Mono created, ready_at;
  std::int64_t price = 0;  ///< Per hour: the least that the cloud had said of its kind by then.
  bool never_boots = false;
  bool doubled = false;               ///< One of several that were made of one create.
  bool unasked = false;               ///< By a call given up, when the others were gone.
  bool loses_power_at_start = false;  ///< Of its next attempt.
  std::string host_key;
  // The agent's side.
  std::uint64_t boots = 1;
  std::uint64_t last_sequence = 0;
  std::uint64_t connection = 0;  ///< Newest HELLO that it has answered.
  std::map<model::AttemptId, Run> runs;

  [[nodiscard]] bool exists() const { return state != model::CloudState::kGone; }
  [[nodiscard]] std::string boot_id() const { return id + "/boot" + std::to_string(boots); }
  [[nodiscard]] bool works() const;
};

/// A cloud account behind a driver: idempotent by key, or as far as it looks before it creates,
/// late, refusing, losing replies, losing machines, listing what is not there yet and hiding what
/// is.
class Cloud {
 public:
  /// Hands an event to the daemon that made the call; it is lost if that one is dead by then.
  using Reply = std::function<void(Duration, dispatch::Event)>;

  Cloud(Timeline& time, Chance& chance, const Day& day, const model::SitePolicy& policy,
        const Disk& disk, Disk::Complain complain)
      : time_(time),
        chance_(chance),
        quota_(static_cast<std::size_t>(day.fleet) + 1),
        list_interval_min_(day.list_interval_min),
        policy_(policy),
        disk_(disk),
        complain_(std::move(complain)),
        has_power_(chance.chance(0.8)),
        has_prices_(chance.chance(0.5)),
        has_tokens_(chance.chance(0.7)) {}

  void open(const dispatch::OpenSet& call, const Reply& reply);
  void create(const dispatch::CreateCall& call, const Reply& reply);
  void list(const dispatch::ListCall& call, const Reply& reply);
  void destroy(const dispatch::DestroyCall& call, const Reply& reply);
  void set_tags(const dispatch::TagsCall& call, const Reply& reply);
  void power(const dispatch::PowerCall& call, const Reply& reply);
  void prices(const dispatch::PricesCall& call, const Reply& reply);

  /// A machine dies, fails, reboots, goes off, or will as its next attempt starts.
  void misfortune();
  /// What runs dies; of what began a moment ago the log knows nothing, for it was not synced.
  void lose_power(Machine& machine);
  [[nodiscard]] Machine* at(const std::string& address);
  [[nodiscard]] std::size_t alive() const { return living_.size(); }
  /// How long all that are gone lived, together.
  [[nodiscard]] Duration lived() const { return lived_; }

 private:
  Machine& make(const model::CreateRequest& request, bool looks_first);
  [[nodiscard]] Machine* made_before(const model::CreateRequest& request, bool looks_first);
  /// Ids and addresses end in the machine's number.
  [[nodiscard]] Machine* numbered(const std::string& name) const;
  /// By its id or that of its request.
  [[nodiscard]] Machine* existing(const std::string& id) const;
  void fulfil(Machine& machine);
  void end(Machine& machine);
  void switch_off(Machine& machine);
  void switch_on(Machine& machine);
  void check_power(const Machine& machine, const dispatch::PowerCall& call);
  void check_create(const dispatch::CreateCall& call);
  void check_ceilings();
  void check_prices();
  void check_destroy(const Machine& machine, const dispatch::DestroyCall& call);
  [[nodiscard]] std::optional<model::CloudError> refusal();
  [[nodiscard]] std::int64_t least_price(const model::CreateRequest& request) const;
  [[nodiscard]] model::ListedInstance show(const Machine& machine) const;
  Duration latency();

  Timeline& time_;
  Chance& chance_;
  const std::size_t quota_;  ///< How many machines it lets be.
  const Duration list_interval_min_;
  const model::SitePolicy& policy_;
  const Disk& disk_;
  Disk::Complain complain_;
  const bool has_power_, has_prices_;
  const bool has_tokens_;  ///< It knows keys itself: a create made twice makes one machine.
  std::vector<std::unique_ptr<Machine>> machines_;        ///< All that ever were, by number from 1.
  std::vector<Machine*> living_;                          ///< In the order they were made.
  std::map<model::InstanceId, int> asked_for_;            ///< How many live that were made for it.
  std::map<std::string, std::vector<Machine*>> made_of_;  ///< By key.
  Duration lived_{};
  std::map<std::string, model::CreateRequest> asked_;  ///< By key: byte for byte, ever after.
  std::map<std::pair<std::string, std::string>, std::int64_t> least_said_;  ///< By type and zone.
};

}  // namespace hostler::sim
