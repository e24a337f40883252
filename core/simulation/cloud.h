#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/random.h"
#include "core/dispatch/events.h"
#include "core/simulation/machine.h"
#include "core/simulation/scenario.h"
#include "core/simulation/timeline.h"

namespace hostler::simulation {

/// The cloud and the driver of one set. Creates are idempotent by key. It answers the calls of the
/// dispatcher by events, after a delay.
class Cloud {
 public:
  using Reply = std::function<void(Duration, dispatch::Event)>;

  /// `wall`: the wall clock at a time of the timeline. `lost`: called when a machine has gone or is
  /// switched off.
  Cloud(Timeline& time, const model::SitePolicy& policy, std::string set, const CloudModel& model,
        std::uint64_t seed, std::function<Wall(Mono)> wall, Reply reply,
        std::function<void(model::InstanceId)> lost);

  void take(const dispatch::OpenSet& call);
  void take(const dispatch::CreateCall& call);
  void take(const dispatch::ListCall& call);
  void take(const dispatch::LookUpCall& call);
  void take(const dispatch::DestroyCall& call);
  void take(const dispatch::TagsCall& call);
  void take(const dispatch::PowerCall& call);
  void take(const dispatch::PricesCall& call);

  /// The machine that runs at this address, which is its id, or null. Those of all clouds differ.
  [[nodiscard]] Machine* at(const std::string& id);
  /// Those that run, by number. Valid until one of them changes.
  [[nodiscard]] std::vector<const Machine*> running() const;
  /// The cost of all machines until now.
  struct Paid {
    double cost = 0;  ///< In millionths.
    double hours = 0, vcpu_hours = 0;
  };
  [[nodiscard]] const Paid& paid();

 private:
  [[nodiscard]] std::optional<model::CloudError> refusal();
  [[nodiscard]] std::optional<model::CloudError> no_room(const model::InstanceType& type) const;
  Machine& make(const model::CreateRequest& request);
  /// It boots, or boots anew.
  void boot(Machine& machine);
  void end(Machine& machine);
  void stop_work(Machine& machine);
  void pay(Machine& machine);
  void change_price(const PriceChange& change);
  void take_recorded_prices();
  [[nodiscard]] Machine* existing(const std::string& id);
  [[nodiscard]] static const std::shared_ptr<const model::ListedInstance>& show(
      const Machine& machine);
  [[nodiscard]] static model::ListedInstance describe(const Machine& machine);
  [[nodiscard]] bool lists_are_empty() const;
  [[nodiscard]] model::Micros price_of(const model::InstanceType& type) const;
  [[nodiscard]] Duration since_start() const;

  Timeline& time_;
  const Mono start_;
  const model::SitePolicy& policy_;
  const std::string set_;
  CloudModel model_;  ///< Constant after the constructor.
  Random random_;
  const std::function<Wall(Mono)> wall_;
  const Reply reply_;
  const std::function<void(model::InstanceId)> lost_;
  std::map<std::uint64_t, std::unique_ptr<Machine>> machines_;  ///< By number; those that exist.
  std::map<std::string, std::string> made_of_;                  ///< By key: the id.
  std::map<std::string, model::Micros> prices_;                 ///< By type, where it has changed.
  std::map<std::string, std::uint64_t> alive_of_;               ///< By type.
  std::uint64_t made_ = 0;
  Paid paid_;
};

}  // namespace hostler::simulation
