#include <algorithm>
#include <map>
#include <utility>

#include "core/dispatch/events.h"
#include "core/dispatch/handlers/snapshot_maker.h"
#include "core/dispatch/queries.h"
#include "core/dispatch/state/state.h"
#include "core/dispatch/state/submit_checks.h"

/// What a plan would see now, also with jobs that somebody may submit.
namespace hostler::dispatch {
namespace {

using demand::ClassId;
using demand::ClassView;

/// No queue gives these out: its classes count from 0.
constexpr ClassId kFirstTrial = 1'000'000'000'000;
/// All that waits has arrived before.
constexpr std::uint64_t kTrialArrival = std::uint64_t{1} << 62;
constexpr std::uint64_t kHeadsMax = 32;
constexpr std::size_t kShapesMax = 1000;

/// The turn and the allowance of who asks, behind what waits of the same principal.
struct Standing {
  double use = 0;
  demand::Allowance left;
};

Standing standing_of(const State& state, const std::string& name) {
  const auto known = state.principals.find(name);
  if (!known) return {.use = 0, .left = demand::Allowance::of(state.policy.quotas.of(name))};
  const demand::PrincipalId principal = *known;
  const auto& queue = state.waiting.queue();
  Standing out{.use = queue.key(principal), .left = queue.allowance(principal)};
  if (queue.count(principal) == 0) return out;
  for (const auto& lane : queue.lanes(principal)) {
    const ClassId cls = lane.first.cls;
    const auto& of = queue.at(cls);
    const std::uint64_t count = queue.lane(principal, cls).count();
    out.left.take(model::Amounts::of(of.shape.needs, of.price_per_hour), count);
    out.use += state.principals.shares().turn_cost() *
               static_cast<double>(of.price_per_hour.value) * static_cast<double>(count);
  }
  return out;
}

/// The limits that keep work out of a look: those of sizes.
std::string beyond_text(const model::Quota& quota) {
  if (!quota.running_gpus_max) return "running_vcpus_max";
  return quota.running_vcpus_max ? "running_vcpus_max or running_gpus_max" : "running_gpus_max";
}

/// One view for each shape, as if its jobs were the last that have arrived.
class TrialViews {
 public:
  TrialViews(Standing standing, Mono now) : standing_(standing), now_(now) {}

  ClassId add(const model::WorkItem& item) {
    const auto [at, fresh] =
        by_shape_.try_emplace(demand::Queue::class_shape(item.shape), views_.size());
    if (fresh)
      views_.push_back({.id = kFirstTrial + views_.size(),
                        .kind = item.record.id.kind,
                        .shape = at->first,
                        .oldest = now_});
    ++views_[at->second].count;
    return views_[at->second].id;
  }
  [[nodiscard]] std::size_t size() const { return views_.size(); }

  /// Into the queue's order; without the items that the limits do not cover.
  void add_to(scheduler::Snapshot& out) {
    for (ClassView& view : views_) {
      const auto needs = model::Amounts::of(view.shape.needs, {});
      view.count = standing_.left.count(needs, view.count);
      if (view.count == 0) continue;
      bound(view);
      standing_.left.take(needs, view.count);
      for (std::uint64_t i = 0; i < std::min(view.count, kHeadsMax); ++i)
        view.heads.push_back({.use = standing_.use, .arrival = kTrialArrival + i});
      out.classes.push_back(std::move(view));
    }
    out.has_limits = out.has_limits || standing_.left.is_limited();
    std::ranges::stable_sort(out.classes, [](const ClassView& a, const ClassView& b) {
      return a.shape.priority > b.shape.priority;
    });
  }

 private:
  /// What the limits say of the hosts that its items may get.
  void bound(ClassView& view) const {
    using demand::PriceBound;
    const auto& left = standing_.left;
    PriceBound::Share share{.left = PriceBound::kAny, .items = view.count};
    if (left.price_per_hour)
      share.left.price_per_hour = std::max(model::Micros(), *left.price_per_hour);
    if (view.shape.exclusive && left.vcpus) share.left.vcpus = *left.vcpus;
    if (view.shape.exclusive && left.gpus) share.left.gpus = *left.gpus;
    if (share.left != PriceBound::kAny) view.price.emplace(std::vector{share});
  }

  Standing standing_;
  Mono now_;
  std::map<model::WorkShape, std::size_t> by_shape_;
  std::vector<ClassView> views_;
};

/// The median of the hosts that are there.
std::vector<std::optional<Duration>> boots_of(const Hosts& hosts, const Menu& menu) {
  std::map<std::uint32_t, std::vector<Duration>> seen;
  for (const auto& [id, host] : hosts.all()) {
    const auto& record = host.instance.record;
    if (record.ready.us > 0 && record.ready > record.created)
      seen[menu.offering_of(host.instance)].push_back(record.ready - record.created);
  }
  std::vector<std::optional<Duration>> out(menu.offerings().size());
  for (auto& [offering, boots] : seen) {
    if (offering >= out.size()) continue;
    const auto middle = boots.begin() + static_cast<std::ptrdiff_t>(boots.size() / 2);
    std::nth_element(boots.begin(), middle, boots.end());
    out[offering] = *middle;
  }
  return out;
}

}  // namespace

Result<Look> Queries::look(Now now) const {
  const State& s = state_;
  if (s.is_old)
    return fail(Errc::kConflict, "nothing is planned: a cloud knows a later state of this site");
  const CreateRefusals refusals(s.policy, s.sets, s.images, s.offered, s.prices, s.gates);
  const SnapshotMaker maker(s.policy, s.sets, s.hosts, s.principals, s.waiting,
                            {s.jobs, s.leases, s.gangs}, s.menu, refusals, s.viewer, s.set_aside,
                            {s.bounds, s.rests, s.pushes, s.metrics}, s.gates, s.governor,
                            s.limits);
  return Look{maker.make(now).snapshot, s.plan.policy()};
}

Result<TrialLook> Queries::trial(const Submit& submit, Now now) const {
  const State& s = state_;
  const SubmitChecks checks(s.policy, s.sets, s.principals, s.menu, s.offered);
  HOSTLER_TRY(checks.check(submit, now.mono));
  SubmitQuotas quotas = s.quotas;  // A copy: a question is not counted.
  HOSTLER_TRY(quotas.check(submit, now.mono));
  TrialLook out{.look = HOSTLER_TRY(look(now)), .jobs = {}, .beyond = {}, .boots = {}};
  TrialViews views(standing_of(s, submit.principal), now.mono);
  for (const auto& item : submit.work) {
    out.jobs.push_back(views.add(item));
    if (views.size() > kShapesMax)
      return fail(Errc::kTooLarge, "jobs of more than " + std::to_string(kShapesMax) +
                                       " different shapes, allowed in a dry run: at most " +
                                       std::to_string(kShapesMax));
  }
  auto snapshot = std::make_shared<scheduler::Snapshot>(*out.look.snapshot);
  views.add_to(*snapshot);
  out.look.snapshot = std::move(snapshot);
  out.beyond = beyond_text(s.policy.quotas.of(submit.principal)) + " of " + submit.principal +
               " covers no more of its jobs";
  out.boots = boots_of(s.hosts, s.menu);
  return out;
}

Result<TrialLook> Queries::trial(const SubmitLease& submit, Now now) const {
  const State& s = state_;
  const SubmitChecks checks(s.policy, s.sets, s.principals, s.menu, s.offered);
  const Submit all = HOSTLER_TRY(checks.as_submit(submit));
  const auto count = static_cast<std::uint32_t>(all.work.size());
  HOSTLER_TRY(s.leases.check_texts(submit.principal, submit.lease, count));
  return trial(all, now);
}

}  // namespace hostler::dispatch
