#include "tests/sim/pool_days.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "core/demand/queue.h"

namespace hostler::sim {
namespace {

using model::InstanceState;
using model::WorkState;
using namespace std::chrono_literals;

/// A plan may be as old when it is applied.
constexpr Duration kPlanAge = 5s;

bool is_own_state(InstanceState state) {
  return state == InstanceState::kRequested || state == InstanceState::kBooting ||
         state == InstanceState::kUnknown || state == InstanceState::kIdle ||
         state == InstanceState::kBusy;
}

bool may_go(const model::InstanceView& host) {
  return host.record.idle_behavior == model::IdleBehavior::kRun && !host.cordoned &&
         !host.record.restored;
}

/// Some user may run only so much at a time.
bool has_limits(const model::SitePolicy& policy) {
  return std::ranges::any_of(policy.quotas.principals, [](const auto& entry) {
    return entry.second.running_vcpus_max || entry.second.running_price_per_hour_max;
  });
}

std::string named(model::InstanceId host) { return host.text(); }

}  // namespace

PoolDays::Kind PoolDays::kind_of(std::uint64_t seed) {
  if (seed % 6 == 2) return Kind::kTightMinimum;
  return seed % 6 == 4 ? Kind::kReloads : Kind::kNone;
}

void PoolDays::set_minimum(model::SitePolicy& policy) const {
  if (kind_ != Kind::kTightMinimum) return;
  auto& pool = policy.pools.front();
  pool.sizes.min = pool.sizes.max = 2;
  pool.sizes.standby = pool.sizes.stopped = 0;
}

void PoolDays::daemon_started() {
  plans_.clear();
  applied_.reset();
  made_for_.clear();
  certain_.clear();
  ending_.clear();
  waiting_.clear();
  jobs_.clear();
  exchanged_ = Mono::min();
  exchange_is_made_ = false;
  gone_first_ = 0;
  rests_until_ = Mono::min();
  for (const auto& [id, row] : disk_.jobs()) {
    if (model::is_terminal(row.record.state)) continue;
    const auto shape = demand::Queue::class_shape(row.shape);
    jobs_[id] = {row.record.state, shape};
    if (row.record.state == WorkState::kQueued) ++waiting_[shape];
  }
}

void PoolDays::planned(std::uint64_t number, std::shared_ptr<const scheduler::Snapshot> snapshot,
                       const scheduler::Plan& plan) {
  plans_[number] = {std::move(snapshot), plan.creates, plan.wakes};
}

void PoolDays::check(const Cause& cause, const dispatch::Outbox& outbox,
                     const dispatch::Queries& queries, Now now) {
  now_ = now;
  next_create_ = 0;
  const auto applied = applied_ ? plans_.find(*applied_) : plans_.end();
  if (applied != plans_.end() &&
      std::ranges::any_of(applied->second.snapshot->classes, &demand::ClassView::displaced))
    waited_ = now.mono;  // Jobs of hosts that will end soon need room as well.
  std::map<model::InstanceId, std::vector<model::WorkShape>> started;
  for (const auto& change : outbox.changes) {
    if (const auto* item = std::get_if<model::WorkItem>(&change)) {
      const auto shape = demand::Queue::class_shape(item->shape);
      jobs_[item->record.id] = {item->record.state, shape};
      if (item->record.state == WorkState::kQueued) ++waiting_[shape];
    } else if (const auto* job = std::get_if<model::WorkChanged>(&change)) {
      const auto known = jobs_.find(job->record.id);
      if (known != jobs_.end() && known->second.first == WorkState::kQueued &&
          job->record.state == WorkState::kStarting)
        started[job->record.instance].push_back(known->second.second);
      on(*job);
    } else if (const auto* host = model::get_change<model::InstanceChanged>(change)) {
      on(*host, queries);
    }
  }
  if (!waiting_.empty()) waited_ = now.mono;
  for (const auto& [host, shapes] : started) {
    check_start(host, queries);
    if (cause.host == host && !has_limits(queries.policy())) check_own_first(host, shapes);
    made_for_.erase(host);
    certain_.erase(host);
  }
  if (applied_) plans_.erase(plans_.begin(), plans_.upper_bound(*applied_));
  applied_.reset();
}

void PoolDays::on(const model::WorkChanged& row) {
  const auto known = jobs_.find(row.record.id);
  if (known == jobs_.end()) return;
  auto& [state, shape] = known->second;
  const bool waited = state == WorkState::kQueued;
  if (state == WorkState::kHeld && row.record.state == WorkState::kRunning)
    certain_.erase(row.record.instance);  // What is taken over has room that others were to have.
  state = row.record.state;
  if (waited && state != WorkState::kQueued && --waiting_[shape] == 0) waiting_.erase(shape);
  if (!waited && state == WorkState::kQueued) ++waiting_[shape];
  if (waited && state != WorkState::kStarting) {
    // It was cancelled, or was found to run: hosts that come for it lose it.
    cancelled_ = now_.mono;
    certain_.clear();
  }
  if (model::is_terminal(state)) jobs_.erase(known);
}

void PoolDays::on(const model::InstanceChanged& row, const dispatch::Queries& queries) {
  const auto& host = row.record;
  const auto& pool = queries.policy().pools.front();
  const bool is_new = made_.emplace(host.id, now_.mono).second;
  if (is_new && row.create) check_exchange(host, pool);
  if (host.state == InstanceState::kTerminating) {
    const auto* before = disk_.instance(host.id);
    const bool is_again = !ending_.insert(host.id).second;  // One decision may write it twice.
    const bool was_ended = is_again || (before != nullptr && before->record.state == host.state);
    if (!was_ended && host.reason_code == model::Reason::kBootingSurplus) check_surplus(host);
    if (!was_ended && host.reason_code == model::Reason::kExchanged) end_exchange(host, pool);
    if (!was_ended && host.reason_code == model::Reason::kAbovePriceLimit) ++gone_first_;
    made_for_.erase(host.id);
  }
  if (!applied_ || !plans_.contains(*applied_)) return;
  const Planned& plan = plans_.at(*applied_);
  if (is_new && row.create) {
    for (; next_create_ < plan.creates.size(); ++next_create_) {
      const auto& create = plan.creates[next_create_];
      const auto& offering = plan.snapshot->offerings[create.offering];
      if (offering.type < queries.policy().types.size() &&
          queries.policy().types[offering.type].name == host.type && offering.zone == host.zone &&
          create.reason == host.reason) {
        learn(host.id, create.load, *plan.snapshot);
        ++next_create_;
        break;
      }
    }
  } else if (host.state == InstanceState::kBooting) {
    for (const auto& wake : plan.wakes)
      if (wake.host == host.id) learn(host.id, wake.load, *plan.snapshot);
  }
}

void PoolDays::learn(model::InstanceId host, const std::vector<demand::Load>& load,
                     const scheduler::Snapshot& snapshot) {
  std::vector<Own> out;
  for (const auto& [cls, count] : load) {
    const auto view = std::ranges::find(snapshot.classes, cls, &demand::ClassView::id);
    if (view != snapshot.classes.end()) out.push_back({view->shape, count});
  }
  made_for_[host] = std::move(out);
  certain_.insert(host);
}

bool PoolDays::is_made_for(model::InstanceId host, const model::WorkShape& shape) const {
  const auto found = made_for_.find(host);
  return found != made_for_.end() &&
         std::ranges::find(found->second, demand::Queue::class_shape(shape), &Own::shape) !=
             found->second.end();
}

/// A host that boots is needed or will be idle: nothing but a cancel, or lists that did not come,
/// makes it useless, and nothing but work that waits for its room ends it.
void PoolDays::check_surplus(const model::InstanceRecord& host) {
  const auto made = made_.find(host.id);
  if (made == made_.end() || cancelled_ + kPlanAge >= made->second ||
      overdue_ + kPlanAge >= made->second || waited_ + kPlanAge >= now_.mono)
    return;
  complain_(named(host.id) +
            " boots and is ended, though nothing was cancelled and nothing waits: " + host.reason);
}

/// One exchange at a time: one that has not ended may have failed.
void PoolDays::check_exchange(const model::InstanceRecord& host, const model::PoolPolicy& pool) {
  if (!host.reason.starts_with("it costs less than")) return;
  begin_exchange(host.id, pool);
  exchange_is_made_ = true;
}

void PoolDays::begin_exchange(model::InstanceId host, const model::PoolPolicy& pool) {
  if (exchanged_ != Mono::min() && now_.mono - exchanged_ < pool.boot_timeout)
    complain_(named(host) + " begins an exchange, and another was begun lately");
  exchanged_ = now_.mono;
}

/// The old host went after the new one was ready; or before it, at a ceiling.
void PoolDays::end_exchange(const model::InstanceRecord& host, const model::PoolPolicy& pool) {
  if (std::exchange(exchange_is_made_, false)) {
    exchanged_ = rests_until_ = Mono::min();
    return;
  }
  begin_exchange(host.id, pool);
  rest(std::max(pool.idle_timeout, pool.boot_timeout));
}

/// The new host may be as dear as the old one, again and again: each time the pool waits twice as
/// long, up to 64 times.
void PoolDays::rest(Duration time) {
  constexpr std::int32_t kDoublingsMax = 6;
  rests_until_ = now_.mono + time * (1 << std::min(gone_first_++, kDoublingsMax));
}

void PoolDays::check_start(model::InstanceId host, const dispatch::Queries& queries) {
  const auto view = queries.instance(host, now_);
  if (!view) return;
  if (!view->closed.empty())
    complain_("work is placed on " + named(host) + ", which is closed: " + view->closed);
  const auto& types = queries.policy().pools.front().types;
  if (std::ranges::find(types, view->record.type) == types.end())
    complain_("work is placed on " + named(host) + ", whose type has left the menu");
}

/// No job of another kind starts in the place of one that the host was made for, and that waits.
void PoolDays::check_own_first(model::InstanceId host,
                               const std::vector<model::WorkShape>& started) {
  const auto found = made_for_.find(host);
  if (found == made_for_.end() || !certain_.contains(host)) return;
  for (const Own& own : found->second) {
    const auto waits = waiting_.find(own.shape);
    const auto placed = std::ranges::count(started, own.shape);
    if (waits == waiting_.end() || placed >= std::int64_t{own.count}) continue;
    // A gang that cannot have all its hosts lets those go that were made for it.
    if (own.shape.gang.count > 0) continue;
    // Work of a higher priority may go first, and has the cards of the kind.
    if (!own.shape.constraints.gpu.kind.empty()) continue;
    // Work of a higher priority may go first, and leaves no whole host for a lease.
    if (own.shape.exclusive && std::ranges::any_of(started, [&](const auto& shape) {
          return shape.priority > own.shape.priority;
        }))
      continue;
    for (const auto& shape : started) {
      const bool is_own =
          std::ranges::find(found->second, shape, &Own::shape) != found->second.end();
      if (!is_own && shape.priority <= own.shape.priority && own.shape.needs.fits_in(shape.needs))
        complain_(named(host) + " gets other work than it was made for, which waits");
    }
  }
}

void PoolDays::check_reload(const dispatch::Queries& queries, Now now) {
  now_ = now;
  const auto set = queries.sets().front();
  if (!set.open || set.doubt || set.partition) return;  // It spares some of its hosts.
  const auto& pool = queries.policy().pools.front();
  std::int64_t open = 0, kept = 0;
  bool closes_busy = false, keeps_idle = false;
  for (const auto& host : queries.instances()) {
    if (!is_own_state(host.record.state) || host.record.pool != pool.name) continue;
    if (host.cordoned) continue;
    if (host.record.idle_behavior == model::IdleBehavior::kHold || host.record.restored) ++kept;
    if (!may_go(host)) continue;
    if (host.closed.empty()) ++open;
    closes_busy |= host.closed == "beyond_max" && host.record.state == InstanceState::kBusy;
    keeps_idle |= host.closed.empty() && host.record.state == InstanceState::kIdle;
  }
  if (open > 0 && open + kept > pool.sizes.max)
    complain_(std::to_string(open + kept) + " hosts stay, the maximum is " +
              std::to_string(pool.sizes.max));
  if (closes_busy && keeps_idle) complain_("a busy host is to go, and an idle one stays");
}

void PoolDays::check_at_rest(const dispatch::Queries& queries, Now now) {
  if (kind_ != Kind::kTightMinimum || !queries.sets().front().open) return;
  now_ = now;
  const auto& policy = queries.policy();
  std::int64_t cheapest = INT64_MAX, dearest = 0;
  for (const auto& type : policy.types)
    if (type.market == model::Market::kOnDemand)
      cheapest = std::min(cheapest, disk_.known_price(type));
  std::size_t idle = 0, others = 0;
  for (const auto& host : queries.instances()) {
    if (host.record.state == InstanceState::kGone) continue;
    if (host.record.state != InstanceState::kIdle || !may_go(host)) {
      ++others;
      continue;
    }
    ++idle;
    dearest = std::max(dearest, host.record.price_per_hour.value);
  }
  if (others > 0 || !queries.gates(now.mono).empty()) return;
  // Where users have limits, work may wait for those.
  const bool waits = queries.job_counts().front() > 0 && !has_limits(policy);
  if (idle > 0 && waits)
    complain_("work waits beside idle hosts of the minimum that do not give way");
  if (now.mono - 10s < rests_until_) return;
  if (queries.job_counts().front() == 0 && dearest > 2 * cheapest)
    complain_("the minimum keeps a host at " + std::to_string(dearest) + " instead of one at " +
              std::to_string(cheapest));
}

}  // namespace hostler::sim
