#include "tests/sim/push_days.h"

#include <algorithm>
#include <utility>

namespace hostler::sim {
namespace {

constexpr const char *kHonestPool = "honest", *kLyingPool = "lying";
constexpr std::int32_t kSmall = 2, kLarge = 8;  ///< Slots.

model::InstanceType type_with(std::int32_t slots, std::int64_t price) {
  model::InstanceType out;
  out.name = out.provider_type = "slots-" + std::to_string(slots);
  out.resources = {.vcpus = slots, .gpus = 0, .ram = std::int64_t{1} << 30, .scratch = 0};
  out.resources.slots = slots;
  out.price_per_hour = {price};
  return out;
}

std::vector<std::int32_t> sizes_of(const model::SitePolicy& policy, const model::PoolPolicy& pool) {
  std::set<std::int32_t> out;
  for (const auto& type : policy.types)
    if (std::ranges::count(pool.types, type.name) > 0) out.insert(type.resources.slots);
  return {out.begin(), out.end()};
}

model::PoolPolicy& pool_of(model::SitePolicy& policy, const std::string& name) {
  return *std::ranges::find(policy.pools, name, &model::PoolPolicy::name);
}

}  // namespace

PushDays::PushDays(std::uint64_t seed, Timeline& time, Clock clock, Cloud& cloud, const Disk& disk,
                   PushWire::Post post, Complain complain)
    : seed_(seed),
      random_(seed ^ 0x9054),
      time_(time),
      clock_(std::move(clock)),
      cloud_(cloud),
      disk_(disk),
      complain_(std::move(complain)),
      wire_(
          seed ^ 0x317e, time, [this](const PushWire::Sent& sent) { return is_taken(sent); },
          std::move(post)) {}

Duration PushDays::between(Duration from, Duration until) {
  return from + 1ms * static_cast<std::int64_t>(
                          random_.below(static_cast<std::uint64_t>((until - from) / 1ms)));
}

void PushDays::set_policy(model::SitePolicy& policy) {
  for (auto type : {type_with(kSmall, 50), type_with(kLarge, 160)}) {
    type.image = policy.types.front().image;
    type.image_id = policy.types.front().image_id;
    policy.types.push_back(std::move(type));
  }
  const auto sizes = random_.below(3);
  make_pool(policy, kHonestPool, sizes != 0, sizes != 1, 4);
  make_pool(policy, kLyingPool, true, true, 2);
  auto& lying = *pool_of(policy, kLyingPool).pushed;
  if (random_.chance(0.5)) lying.abandoned_after = 2min;
}

void PushDays::make_pool(model::SitePolicy& policy, const std::string& name, bool has_small,
                         bool has_large, std::int32_t max) {
  using enum model::Readiness;
  model::PoolPolicy pool;
  pool.name = name;
  pool.sets = policy.pools.front().sets;
  pool.image = policy.pools.front().image;
  if (has_small) pool.types.push_back("slots-" + std::to_string(kSmall));
  if (has_large) pool.types.push_back("slots-" + std::to_string(kLarge));
  pool.sizes.max = max;
  if (random_.chance(0.2)) pool.sizes.min = 1;
  pool.readiness = std::array{kReported, kReported, kCloud, kSsh}[random_.below(4)];
  pool.idle_timeout = between(1s, 20s);
  pool.boot_timeout = 3min;
  pool.probe_timeout = between(20s, 90s);
  auto& pushed = pool.pushed.emplace();
  pushed.max_age = between(8s, 30s);
  pushed.shrink_after = between(20s, 1min);
  pushed.starting = between(1min, 2min);
  pushed.disconnected = between(30s, 90s);
  pushed.agent_name =
      std::array{model::AgentName::kInstance, model::AgentName::kInstance,
                 model::AgentName::kCloudId, model::AgentName::kAddress}[random_.below(4)];
  pushed.aux_per_agent = 2;
  if (random_.chance(0.25)) pushed.lifetime_max = between(1min, 3min);
  policy.pools.push_back(std::move(pool));
}

void PushDays::begin(Duration trouble, model::SitePolicy& policy, std::function<void()> reload) {
  const auto& honest = pool_of(policy, kHonestPool);
  const auto& lying = pool_of(policy, kLyingPool);
  for (const auto* pool : {&honest, &lying}) {
    PushRules::IsInUse is_in_use;
    if (pool == &honest) is_in_use = [this](model::InstanceId id) { return honest_->uses(id); };
    rules_.emplace_back(*pool, std::move(is_in_use), complain_);
    agents_.emplace_back(seed_, pool->name, pool->pushed->agent_name, time_, cloud_);
  }
  honest_.emplace(seed_, kHonestPool, sizes_of(policy, honest), honest.pushed->aux_per_agent,
                  agents_.front(), time_, wire_, complain_);
  liar_.emplace(seed_, kLyingPool, kHonestPool, lying.pushed->abandoned_after > 0s, agents_.back(),
                time_, wire_,
                [this]() -> const PushTurns::Session& { return rules_.front().turns().session(); });
  cloud_.show_tasks([this](const Machine& machine) { return honest_->uses(machine.instance); });
  honest_->begin(trouble);
  liar_->begin();
  for (std::uint64_t n = random_.below(4); n > 0; --n)
    time_.after(between(10s, trouble),
                [this, all = random_.chance(0.3), at = random_.below(2), lasts = between(2s, 90s)] {
                  agents_[at].vanish(all, lasts);
                });
  for (std::uint64_t n = random_.below(3); n > 0; --n)
    time_.after(between(10s, trouble), [this, lasts = between(5s, 1min)] { wire_.cut(lasts); });
  for (std::uint64_t n = random_.below(3); n > 0; --n)
    time_.after(between(10s, trouble), [this, &policy, reload, max = 1 + random_.below(4)] {
      if (has_faults_) resize(policy, static_cast<std::int32_t>(max), reload);
    });
  look_at_boots();
}

void PushDays::resize(model::SitePolicy& policy, std::int32_t max,
                      const std::function<void()>& reload) {
  auto& sizes = pool_of(policy, kHonestPool).sizes;
  sizes.max = max;
  rules_.front().set_sizes(sizes);
  reload();
}

/// Where no link does it.
void PushDays::look_at_boots() {
  for (const auto& machine : cloud_.machines())
    for (const auto& agents : agents_)
      if (agents.is_its(*machine) && agents.is_up(*machine) &&
          came_up_.insert(machine.get()).second)
        cloud_.came_up(*machine);
  time_.after(1s, [this] { look_at_boots(); });
}

void PushDays::end_faults() {
  has_faults_ = false;
  wire_.end_faults();
  for (auto& agents : agents_) agents.end_faults();
  honest_->end_faults();
  liar_->end_faults();
}

void PushDays::close_down(model::SitePolicy& policy) {
  for (auto& rules : rules_) {
    auto& sizes = pool_of(policy, rules.pool()).sizes;
    sizes.min = 0;
    if (rules.pool() == kHonestPool) sizes.max = 4;
    rules.set_sizes(sizes);
  }
}

// ---- what the daemon does ----------------------------------------------------------------------

PushRules* PushDays::rules_of(const std::string& pool) {
  const auto found = std::ranges::find(rules_, pool, &PushRules::pool);
  return found == rules_.end() ? nullptr : &*found;
}

std::optional<bool> PushDays::is_taken(const PushWire::Sent& sent) {
  PushRules* rules = rules_of(sent.pool);
  return rules == nullptr ? false : rules->turns().takes(sent.principal, sent.push, clock_().mono);
}

void PushDays::daemon_started() {
  wire_.daemon_started();
  const bool is_old = disk_.was_put_back() && !std::exchange(was_put_back_, disk_.was_put_back());
  for (auto& rules : rules_) {
    if (is_old) rules.turns().put_back();
    rules.daemon_started(disk_, clock_());
  }
}

void PushDays::planned(const scheduler::Snapshot& snapshot, const scheduler::Plan& plan,
                       const model::SitePolicy& policy) const {
  for (const auto& rules : rules_) {
    const auto pool = std::ranges::find(policy.pools, rules.pool(), &model::PoolPolicy::name);
    rules.planned(snapshot, plan, static_cast<std::uint32_t>(pool - policy.pools.begin()),
                  sizes_of(policy, *pool));
  }
}

void PushDays::check(const dispatch::Outbox& outbox) {
  for (const auto& effect : outbox.effects)
    if (const auto* reply = std::get_if<dispatch::PushReply>(&effect)) judge(*reply);
  for (const auto& change : outbox.changes) {
    if (const auto* host = model::get_change<model::InstanceChanged>(change)) {
      if (PushRules* rules = rules_of(host->record.pool)) rules->decided(host->record, clock_());
    } else if (const auto* work = std::get_if<model::WorkChanged>(&change)) {
      check_start(work->record);
    }
  }
}

void PushDays::judge(const dispatch::PushReply& reply) {
  auto* flight = wire_.find(reply.ticket);
  if (flight == nullptr) return complain_("a push is answered that nobody has sent");
  const auto& [pool, principal, push] = flight->sent;
  const bool is_taken = reply.result.has_value();
  if (flight->is_taken && *flight->is_taken != is_taken)
    complain_("push " + std::to_string(push.sequence) + " of session " + push.session + " of " +
              principal + " for pool " + pool +
              (is_taken ? " is taken" : " is refused: " + reply.result.error().message));
  if (!is_taken) return;
  PushRules* rules = rules_of(pool);
  if (rules == nullptr) return complain_("a push is taken for a pool that has no scheduler");
  rules->answered(principal, push, *reply.result, clock_());
  flight->session = rules->turns().session();
}

/// Leases too.
void PushDays::check_start(const model::WorkRecord& row) const {
  if (row.state != model::WorkState::kStarting) return;
  const auto* host = disk_.instance(row.instance);
  if (host != nullptr && host->record.pool != "default")
    complain_(row.id.text() + " gets " + row.instance.text() + ", which is an outside scheduler's");
}

void PushDays::answer(const dispatch::PushReply& reply) {
  if (const auto* flight = wire_.find(reply.ticket); flight != nullptr && reply.result)
    if (PushRules* rules = rules_of(flight->sent.pool)) rules->turns().told(flight->session);
  wire_.answer(reply);
}

}  // namespace hostler::sim
