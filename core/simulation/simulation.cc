#include "core/simulation/simulation.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <variant>

#include "core/dispatch/dispatcher.h"
#include "core/dispatch/immediate_effects.h"
#include "core/scheduler/plan.h"
#include "core/simulation/cloud.h"
#include "core/simulation/hosts.h"
#include "core/simulation/load.h"
#include "core/simulation/metric_feed.h"
#include "core/simulation/observer.h"
#include "core/simulation/outside_schedulers.h"
#include "core/simulation/submitters.h"

namespace hostler::simulation {
namespace {

constexpr Duration kCommit = 2ms;    ///< A commit of the store.
constexpr Duration kPlan = 5ms;      ///< A plan, which another thread makes.
constexpr Duration kForget = 10min;  ///< Between two times at which the store removes ended jobs.

/// The daemon, its clouds and hosts, and those who submit jobs.
class Site {
 public:
  Site(const Scenario& scenario, const model::SitePolicy& policy, const Limits& limits, Load load,
       std::vector<Load> pushed)
      : scenario_(scenario),
        policy_(policy),
        limits_(limits),
        start_(time_.now()),
        secrets_(scenario.seed),
        hosts_(
            time_, [this](const std::string& address) { return machine_at(address); },
            [this](model::WorkId id) { return submitters_.fate_of(id); },
            [this](model::HostEvent event) { post(std::move(event)); }),
        kernel_(
            policy,
            [this](const model::PoolPolicy&, const std::string&, const model::SetInfo&,
                   model::CreateRequest& request,
                   model::HostIdentity& identity) { make_secrets(request, identity); },
            dispatch::Options{{}, scenario.seed}),
        submitters_(time_, std::move(load), limits, observer_,
                    [this](dispatch::Event event) { post(std::move(event)); }),
        schedulers_(time_, scenario, policy, std::move(pushed),
                    {[this] { return machines(); },
                     [this](dispatch::Event event) { post(std::move(event)); }}) {
    for (const auto& set : policy.sets) add_cloud(set.name);
  }
  Site(const Site&) = delete;
  Site& operator=(const Site&) = delete;

  Result<Report> run() {
    model::Restored nothing;
    nothing.owner = "simulated";
    nothing.epoch = 1;
    take(kernel_.restore(std::move(nothing), now()));
    forget();
    MetricFeed metrics(time_, scenario_, policy_,
                       [this](dispatch::Event event) { post(std::move(event)); });
    HOSTLER_TRY(metrics.begin());
    submitters_.begin();
    schedulers_.begin();
    while (!problem() && time_.next() <= start_ + scenario_.lasts && out_.events < limits_.events) {
      ++out_.events;
      if (!time_.step()) break;
    }
    if (auto found = problem()) return tl::unexpected(*std::move(found));
    out_.reached_limit = out_.events >= limits_.events;
    out_.lasted = out_.reached_limit ? since_start() : scenario_.lasts;
    out_.skipped = submitters_.skipped();
    for (auto& [set, cloud] : clouds_) {
      const Cloud::Paid& paid = cloud->paid();
      out_.cost += paid.cost / 1e6;
      out_.host_hours += paid.hours;
      out_.vcpu_hours_bought += paid.vcpu_hours;
    }
    out_.tasks = schedulers_.complete(out_.lasted);
    observer_.complete(out_);
    return out_;
  }

 private:
  [[nodiscard]] Duration since_start() const { return time_.now() - start_; }
  [[nodiscard]] Wall wall(Mono at) const { return scenario_.starts + (at - start_); }
  [[nodiscard]] Now now() const { return {time_.now(), wall(time_.now())}; }

  void add_cloud(const std::string& set) {
    const auto found = scenario_.clouds.find(set);
    static const CloudModel usual;
    const CloudModel& model = found == scenario_.clouds.end() ? usual : found->second;
    clouds_[set] = std::make_unique<Cloud>(
        time_, policy_, set, model, scenario_.seed * 31 + clouds_.size(),
        [this](Mono at) { return wall(at); },
        [this](Duration delay, dispatch::Event event) {
          time_.after(delay,
                      [this, event = std::move(event)]() mutable { post(std::move(event)); });
        },
        [this](model::InstanceId instance) {
          hosts_.lost(instance);
          schedulers_.lost(instance);
        });
  }

  void make_secrets(model::CreateRequest& request, model::HostIdentity& identity) {
    const std::string number = std::to_string(secrets_.next());
    request.idempotency_key = "uuid-" + number;
    request.ssh_host_key_public = identity.delivered_public_key = "key-" + number;
    request.user_data = identity.challenge_secret = "secret-" + number;
  }

  Machine* machine_at(const std::string& address) {
    for (auto& [set, cloud] : clouds_)
      if (Machine* machine = cloud->at(address)) return machine;
    return nullptr;
  }

  std::vector<const Machine*> machines() const {
    std::vector<const Machine*> out;
    for (const auto& [set, cloud] : clouds_)
      for (const Machine* machine : cloud->running()) out.push_back(machine);
    return out;
  }
  /// Why no more work arrives.
  [[nodiscard]] std::optional<Error> problem() const {
    return submitters_.problem() ? submitters_.problem() : schedulers_.problem();
  }

  void forget() {
    time_.after(kForget, [this] { forget(); });
    const auto ended = observer_.take_ended();
    if (ended.empty()) return;
    submitters_.forget(ended);
    post(dispatch::WorkForgotten{ended});
  }

  // ---- the daemon ----------------------------------------------------------------------------

  void post(dispatch::Event event) { take(kernel_.apply(std::move(event), now())); }

  void take(dispatch::Outbox outbox) {
    for (const auto& effect : dispatch::take_immediate(outbox)) carry_out(effect);
    if (!outbox.changes.empty() || !outbox.effects.empty()) {
      uncommitted_.push_back(std::move(outbox));
      if (uncommitted_.size() == 1) time_.after(kCommit, [this] { commit(); });
    }
    await_tick();
  }

  void commit() {
    const auto group = std::exchange(uncommitted_, {});
    for (const dispatch::Outbox& outbox : group)
      for (const auto& effect : outbox.effects)
        if (const auto* answer = std::get_if<dispatch::Reply>(&effect)) submitters_.hear(*answer);
    for (const dispatch::Outbox& outbox : group) {
      observer_.see(outbox.changes, since_start());
      for (const auto& effect : outbox.effects) carry_out(effect);
    }
  }

  void await_tick() {
    const Mono wake = kernel_.next_wake();
    if (wake == Mono::max()) return;
    const Mono when = std::max(time_.now(), wake);
    if (tick_at_ <= when && tick_at_ >= time_.now()) return;
    tick_at_ = when;
    time_.at(when, [this, when] {
      if (tick_at_ == when) tick_at_ = Mono::max();
      take(kernel_.tick(now()));
    });
  }

  void carry_out(const dispatch::Effect& effect) {
    std::visit([this](const auto& one) { on(one); }, effect);
  }
  /// A call of a set's driver.
  template <class Call>
  void on(const Call& call) requires requires(Cloud& cloud) {
    cloud.take(call);
  }
  { clouds_.at(call.set)->take(call); }
  void on(const model::HostCommand& command) { hosts_.take(command); }
  void on(const dispatch::MakePlan& wanted) {
    ++out_.plans;
    auto plan = scheduler::make_plan(*wanted.snapshot, *wanted.policy);
    answer(kPlan, dispatch::PlanMade{wanted.number, std::move(plan)});
  }
  void on(const dispatch::QuotaGroupCall& call) {
    answer(kCommit, dispatch::QuotaGroupFetched{call.set, call.type, std::string()});
  }
  void on(const dispatch::ImagesCall& call) {
    std::vector<model::Image> images(1);
    images.front().id = "image";
    answer(kCommit, dispatch::ImagesFetched{call.set, call.query, call.number, std::move(images)});
  }
  void on(const dispatch::WatchCall& call) {
    model::CloudError none;
    none.cls = model::CloudErrorClass::kUnsupported;
    none.message = "the simulated cloud takes no machine back";
    answer(kCommit, dispatch::WatchEnded{call.set, call.number, std::move(none)});
  }
  void on(const dispatch::DrainCall& call) {
    answer(kCommit, dispatch::DrainEnded{call.instance, call.began, /*good=*/true, {}});
  }
  /// What a simulated cloud is not asked for, and what says something to others only.
  void on(const dispatch::UseSet&) {}
  void on(const dispatch::UseDriver&) {}
  void on(const dispatch::ConsoleCall&) {}
  void on(const dispatch::OfferingsCall&) {}
  void on(const dispatch::LeftoversCall&) {}
  void on(const dispatch::DestroyLeftoverCall&) {}
  void on(const dispatch::EpochsCompared&) {}
  void on(const dispatch::Reply&) {}
  void on(const dispatch::PushReply& answer) { schedulers_.hear(answer); }

  void answer(Duration delay, dispatch::Event event) {
    time_.after(delay, [this, event = std::move(event)]() mutable { post(std::move(event)); });
  }

  const Scenario& scenario_;
  const model::SitePolicy& policy_;
  const Limits& limits_;
  Timeline time_;
  const Mono start_;
  Random secrets_;
  Observer observer_;
  std::map<std::string, std::unique_ptr<Cloud>> clouds_;
  Hosts hosts_;
  dispatch::Dispatcher kernel_;
  Submitters submitters_;
  OutsideSchedulers schedulers_;
  std::vector<dispatch::Outbox> uncommitted_;
  Mono tick_at_ = Mono::max();
  Report out_;
};

}  // namespace

Result<Report> simulate(const Scenario& scenario, const model::SitePolicy& policy,
                        const Limits& limits) {
  Load load = HOSTLER_TRY(Load::open(scenario));
  std::vector<Load> pushed = HOSTLER_TRY(OutsideSchedulers::open(scenario));
  return Site(scenario, policy, limits, std::move(load), std::move(pushed)).run();
}

}  // namespace hostler::simulation
