#include "tests/sim/world.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <variant>

#include "core/dispatch/immediate_effects.h"
#include "core/scheduler/plan.h"

namespace hostler::sim {
World::World(std::uint64_t seed, const Day& day)
    : seed_(seed),
      day_(day),
      chance_(seed, day.faults),
      disk_([this](const std::string& what) { complain(what); }),
      cloud_(time_, chance_, day_, policy_, disk_,
             [this](const std::string& what) { complain(what); }),
      consoles_(seed, [this](const std::string& what) { complain(what); }),
      commands_(seed, time_, [this](const std::string& what) { complain(what); }),
      hosts_(time_, chance_, day_, disk_, cloud_, commands_, seed,
             [this](const std::string& what) { complain(what); }),
      pool_days_(day.pool_days ? seed : 0, disk_,
                 [this](const std::string& what) { complain(what); }),
      decisions_(
          disk_,
          [this](model::InstanceId host, const model::WorkShape& shape) {
            return pool_days_.is_made_for(host, shape);
          },
          [this](const std::string& what) { complain(what); }),
      stopped_([this](const std::string& what) { complain(what); }),
      greed_(~seed),
      short_disks_(has_short_disks(seed)),
      short_ram_(has_short_ram(seed)),
      trace_(std::getenv("HOSTLER_SIM_TRACE") != nullptr),
      has_digest_(std::getenv("HOSTLER_SIM_DIGEST") != nullptr) {
  make_policy();
  pool_days_.set_minimum(policy_);
  make_metrics();
  make_images();
  make_pushes();
  make_leftovers();
  make_people();
  make_greedy_user();
  make_faults();
  make_reloads();
  make_give_ups();
  make_old_state();
  make_driver();
  make_notices();
  make_false_lists();
  make_crowd();
  make_borrowers();
}

void World::make_policy() {
  model::SetPolicy set;
  set.name = "west";
  set.remote_user = "jane";
  set.list_interval = 10s;
  set.create_timeout = 20s;
  set.price_interval = 1min;
  set.mass_unreachable_hold = 5min;
  policy_.sets = {set};
  const auto type = [&](const char* name, std::int32_t vcpus, std::int64_t price,
                        model::Market market) {
    model::InstanceType t;
    t.name = t.provider_type = name;
    t.resources = {.vcpus = vcpus, .gpus = 0, .ram = vcpus * 2 * kGiB, .scratch = 0};
    if (short_disks_) t.resources.scratch = kScratch;
    if (short_ram_) t.reserve = kReserveOfDay;
    if (short_ram_ && t.name == "small") t.jobs_max = kJobsOnSmall;
    t.price_per_hour = {price};
    t.market = market;
    if (chance_.chance(0.5)) t.zones = {"z1", "z2"};
    policy_.types.push_back(t);
  };
  type("small", 2, 100, model::Market::kOnDemand);
  type("large", 8, 400, model::Market::kOnDemand);
  if (chance_.chance(0.5)) type("spot", 4, 60, model::Market::kSpot);
  model::PoolPolicy pool;
  pool.name = "default";
  pool.sets = {"west"};
  for (const auto& t : policy_.types) pool.types.push_back(t.name);
  pool.sizes.max = day_.fleet;
  pool.idle_timeout = chance_.between(1s, 30s);
  if (day_.idle_timeout) pool.idle_timeout = *day_.idle_timeout;
  pool.boot_timeout = 2min;
  pool.probe_timeout = chance_.between(5s, 90s);
  pool.shutdown_timeout = 3s;
  pool.spot_patience = 1min;
  pool.starvation_after = 1min;
  if (chance_.chance(0.2)) pool.attempts_parallel_max = 2;
  if (has_few_uses(seed_)) pool.uses_max = kUsesOfDay;
  if (chance_.chance(0.1)) pool.sizes.min = 1;
  if (chance_.chance(0.2)) pool.sizes.standby = 1;
  if (chance_.chance(0.6)) pool.sizes.stopped = static_cast<std::int32_t>(1 + chance_.below(2));
  policy_.pools = {pool};
  policy_.plan_interval = 100ms;
  policy_.abandoned_for = 20min;
  if (day_.ceilings) make_ceilings();
  make_limits();
  make_offerings();
}

void World::make_ceilings() {
  auto& ceilings = policy_.ceilings;
  if (chance_.chance(0.5)) ceilings.instances_max = static_cast<std::int32_t>(2 + chance_.below(4));
  if (chance_.chance(0.3)) ceilings.price_per_hour_max = {1000};
  if (chance_.chance(0.3)) ceilings.creates_per_minute_max = 3;
  if (chance_.chance(0.3)) ceilings.destroys_per_decision_max = 1;
}

Now World::now() const {
  const Duration since = time_.now().time_since_epoch();
  return {time_.now() + mono_ahead_,
          Wall{1'700'000'000'000'000} + (since + mono_ahead_ + wall_ahead_)};
}

void World::complain(const std::string& what) {
  note("COMPLAINT " + what);
  if (!complaint_) complaint_ = what;
}

void World::note(const std::string& what) {
  if (!is_noting()) return;
  const Duration since = time_.now().time_since_epoch() - 24h;
  if (has_digest_) digest_.add(std::to_string(since.count()) + " " + what);
  if (trace_)
    std::printf("%10.3f %s\n", std::chrono::duration<double>(since).count(), what.c_str());
}

void World::start() {
  ++generation_;
  ++tally_.starts_of_daemon;
  tick_at_ = Mono::max();
  note("daemon starts");
  const auto mint = [this](const model::PoolPolicy&, const std::string&, const model::SetInfo&,
                           model::CreateRequest& request, model::HostIdentity& identity) {
    const std::string number = std::to_string(chance_.random().next());
    request.idempotency_key = "uuid-" + number;
    request.ssh_host_key_public = identity.delivered_public_key = "key-" + number;
    request.user_data = identity.challenge_secret = "secret-" + number;
  };
  kernel_ = std::make_unique<dispatch::Dispatcher>(
      policy_, mint,
      dispatch::Options{{}, seed_ + generation_, CrowdCloud::kLimits, Accounts::commands()});
  hosts_.restart([this](model::HostEvent event) { post(std::move(event)); });
  cloud_.forget_boots();
  cloud_.daemon_started();
  consoles_.restart();
  commands_.restart();
  awaited_.clear();
  decisions_.restart();
  pool_days_.daemon_started();
  stopped_.restart();
  creates_until_ = now().mono + 30s;
  if (images_) images_->daemon_started();
  if (leftovers_) leftovers_->daemon_started();
  if (notices_) notices_->daemon_started();
  if (metrics_) metrics_->daemon_started();
  if (pushes_) pushes_->daemon_started();
  if (crowd_) crowd_->daemon_started();
  if (borrowers_) borrowers_->daemon_started(now());
  take(kernel_->restore(disk_.open(), now()));
  if (offerings_) offerings_->restarted(kernel_->queries());
  load_driver();
  std::vector<model::WorkId> forgotten;
  for (const auto& [id, row] : disk_.forgotten()) forgotten.push_back(id);
  submit_past(forgotten);
}

/// SIGKILL: what was not committed is gone; what had left is under way.
void World::kill() {
  if (!kernel_) return;
  note("daemon is killed");
  ++generation_;
  kernel_.reset();
  uncommitted_.clear();
  committing_ = false;
  hosts_.restart([](model::HostEvent) {});
  time_.after(chance_.between(100ms, 20s), [this] { start(); });
}

void World::post(dispatch::Event event) {
  if (!kernel_ || complaint_) return;
  if (is_noting()) note(describe(event));
  ++tally_.events;
  hear_cloud(event);
  const Cause cause(event);
  if (const auto* made = std::get_if<dispatch::PlanMade>(&event)) pool_days_.applies(made->number);
  const bool is_reload = std::holds_alternative<dispatch::PolicyChanged>(event);
  std::optional<dispatch::OfferingsFetched> offered;
  if (const auto* answer = std::get_if<dispatch::OfferingsFetched>(&event)) offered = *answer;
  std::optional<dispatch::SetListed> listed;
  if (const auto* list = std::get_if<dispatch::SetListed>(&event); list && list->result)
    hear_list(listed.emplace(*list));
  take(kernel_->apply(std::move(event), now()), cause);
  if (listed && crowd_) crowd_->heard(*listed, kernel_->queries());
  if (is_reload) pool_days_.check_reload(kernel_->queries(), now());
  if (offered) offerings_->taken(*offered, kernel_->queries());
  if (listed && !has_old_state()) stopped_.listed(*listed, kernel_->queries());
}

void World::take(dispatch::Outbox outbox, const Cause& cause) {
  decisions_.check(cause, outbox, kernel_->queries(), now());
  if (creates_until_ <= now().mono) {
    pool_days_.lists_are_overdue(now());
    cloud_.driver_died();  // Creates are held back, repeated ones too.
  }
  pool_days_.check(cause, outbox, kernel_->queries(), now());
  if (images_) images_->check(kernel_->queries().sets().front(), outbox);
  if (offerings_) offerings_->decided(outbox);
  if (borrowers_) borrowers_->decided(outbox, now());
  if (crowd_) crowd_->check(outbox);
  if (driver_) driver_->check(outbox, now());
  if (metrics_) metrics_->check(outbox);
  if (pushes_) pushes_->check(outbox);
  if (notices_) notices_->check(outbox, kernel_->queries(), now());
  for (const auto& effect : dispatch::take_immediate(outbox)) carry_out(effect);
  if (!outbox.changes.empty() || !outbox.effects.empty()) uncommitted_.push_back(std::move(outbox));
  if (!uncommitted_.empty() && !committing_) {
    committing_ = true;
    time_.after(chance_.between(0s, 10ms), [this, generation = generation_] {
      if (generation == generation_) commit();
    });
  }
  plan_next_tick();
}

/// A group commit: durable all or not at all, then the effects leave that waited for it.
void World::commit() {
  committing_ = false;
  ++tally_.commits;
  auto group = std::exchange(uncommitted_, {});
  for (const auto& outbox : group) {
    if (is_noting())
      for (const auto& change : outbox.changes)
        if (const auto* row = std::get_if<model::LedgerRecord>(&change))
          note("ledger " + row->subject + " " + to_string(row->event) + " " + row->reason_code +
               " " + row->reason);
    disk_.commit(outbox.changes);
    commands_.committed(outbox.changes);
    check_limits(outbox);
    if (borrowers_) borrowers_->committed(outbox);
  }
  if (driver_) driver_->committed();
  if (images_) images_->committed();
  for (const auto& outbox : group)
    for (const auto& effect : outbox.effects) carry_out(effect);
}

void World::carry_out(const dispatch::Effect& effect) {
  if (driver_ && dies_in(effect)) return;
  const auto reply = [this, generation = generation_, ahead = mono_ahead_](Duration delay,
                                                                           dispatch::Event event) {
    // The daemon's clock says when it has asked.
    if (auto* listed = std::get_if<dispatch::SetListed>(&event)) listed->sent += ahead;
    time_.after(delay, [this, generation, event = std::move(event)]() mutable {
      if (generation != generation_) return;
      if (driver_) driver_->answered(event);
      post(std::move(event));
    });
  };
  if (const auto* command = std::get_if<model::HostCommand>(&effect)) {
    hosts_.take(*command);
  } else if (const auto* open = std::get_if<dispatch::OpenSet>(&effect)) {
    cloud_.open(*open, consoles_.exist(), leftovers_.has_value(), reply);
  } else if (const auto* create = std::get_if<dispatch::CreateCall>(&effect)) {
    check_list_before_create(*create);
    cloud_.create(*create, reply);
    tally_.machines_at_once = std::max(tally_.machines_at_once, cloud_.alive());
  } else if (const auto* list = std::get_if<dispatch::ListCall>(&effect)) {
    cloud_.list(*list, reply);
  } else if (const auto* look_up = std::get_if<dispatch::LookUpCall>(&effect)) {
    cloud_.look_up(*look_up, reply);
  } else if (const auto* destroy = std::get_if<dispatch::DestroyCall>(&effect)) {
    if (destroy->reason == model::Reason::kUnreachable && hosts_.is_held(destroy->instance))
      complain(destroy->instance.text() + " is destroyed in a partition");
    consoles_.destroyed(destroy->instance);
    cloud_.destroy(*destroy, reply);
  } else if (const auto* tags = std::get_if<dispatch::TagsCall>(&effect)) {
    cloud_.set_tags(*tags, reply);
  } else if (const auto* power = std::get_if<dispatch::PowerCall>(&effect)) {
    cloud_.power(*power, reply);
  } else if (const auto* prices = std::get_if<dispatch::PricesCall>(&effect)) {
    cloud_.prices(*prices, reply);
  } else if (const auto* console = std::get_if<dispatch::ConsoleCall>(&effect)) {
    consoles_.read(*console, chance_.faults(), reply);
  } else if (const auto* group = std::get_if<dispatch::QuotaGroupCall>(&effect)) {
    // The simulated quota counts all machines.
    reply(10ms, dispatch::QuotaGroupFetched{group->set, group->type, "machines"});
  } else if (const auto* wanted = std::get_if<dispatch::ImagesCall>(&effect)) {
    if (!images_) return complain("no image is named, and one is looked for");
    ask("images");
    images_->find(*wanted, chance_.faults(), time_.now(), reply);
  } else if (const auto* offered = std::get_if<dispatch::OfferingsCall>(&effect)) {
    ask("offerings");
    reply(offerings_.value().delay(), offerings_->answer(*offered));
  } else if (const auto* left = std::get_if<dispatch::LeftoversCall>(&effect)) {
    if (!leftovers_) return complain("leftovers are looked for, and the driver cannot list them");
    ask("leftovers");
    leftovers_->list(*left, chance_.faults(), reply);
  } else if (const auto* end = std::get_if<dispatch::DestroyLeftoverCall>(&effect)) {
    if (!leftovers_) return complain("nobody is to destroy leftovers");
    leftovers_->destroy(*end, chance_.faults(), now().mono, reply);
  } else if (const auto* watch = std::get_if<dispatch::WatchCall>(&effect)) {
    if (notices_) return notices_->watch(*watch, chance_.faults(), reply);
    reply(10ms, dispatch::WatchEnded{watch->set, watch->number,
                                     error(model::CloudErrorClass::kUnsupported, "no watch")});
  } else if (const auto* drain = std::get_if<dispatch::DrainCall>(&effect)) {
    if (!metrics_) return complain("no pool has a drain, and a host drains");
    metrics_->drain(*drain, chance_.faults(), reply);
    submit_beside_drain();
  } else if (const auto* plan = std::get_if<dispatch::MakePlan>(&effect)) {
    ++tally_.plans;
    auto made = scheduler::make_plan(*plan->snapshot, *plan->policy);
    if (metrics_) metrics_->planned(*plan->snapshot, made, *plan->policy, now());
    if (pushes_) pushes_->planned(*plan->snapshot, made, *plan->policy);
    if (metrics_) metrics_->spoil(made, *plan->snapshot, chance_.faults());
    if (chance_.fault(0.02)) go_mad(made, *plan->snapshot);
    pool_days_.planned(plan->number, plan->snapshot, made);
    reply(chance_.fault(0.1) ? chance_.between(1s, 3s) : chance_.between(1ms, 50ms),
          dispatch::PlanMade{plan->number, std::move(made)});
  } else if (const auto* answer = std::get_if<dispatch::Reply>(&effect)) {
    hear(*answer);
  } else if (const auto* told = std::get_if<dispatch::PushReply>(&effect)) {
    pushes_.value().answer(*told);
  }
}

void World::plan_next_tick() {
  if (!kernel_) return;
  const Mono wake = kernel_->next_wake();
  if (wake == Mono::max()) return;
  // The kernel's clock may be ahead of the timeline's.
  const Mono when = std::max(time_.now(), wake - mono_ahead_);
  if (tick_at_ <= when && tick_at_ >= time_.now()) return;
  tick_at_ = when;
  time_.at(when, [this, when, generation = generation_] {
    if (tick_at_ == when) tick_at_ = Mono::max();
    if (generation == generation_) tick();
  });
}

void World::tick() {
  check_time_passes();
  if (kernel_ && !complaint_) take(kernel_->tick(now()));
  if (kernel_ && !complaint_) check_shares();
  if (kernel_ && !complaint_ && short_ram_) check_ram();
  if (kernel_ && !complaint_) commands_.check();
  if (kernel_ && !complaint_ && borrowers_) {
    borrowers_->check(now());
    borrowers_->count_gangs(kernel_->queries().totals(now().mono).gangs);
  }
}

bool World::over() {
  return calm_ && kernel_ && kernel_->queries().at_rest() && cloud_.alive() == 0 &&
         uncommitted_.empty() && (!leftovers_ || leftovers_->left() == 0) &&
         (!pushes_ || pushes_->is_done()) &&
         std::all_of(wishes_.begin(), wishes_.end(), [](const Wish& w) { return w.answered; });
}

std::optional<std::string> World::run() {
  start();
  tidy();
  const Mono end = time_.now() + day_.trouble + day_.patience;
  while (!complaint_ && !over()) {
    if (!time_.step()) break;
    if (time_.now() <= end) continue;
    std::string left =
        "no rest " + std::to_string(day_.patience / 1min) + " minutes after the faults";
    for (const auto& [id, row] : disk_.jobs())
      if (!model::is_terminal(row.record.state))
        left += "; " + id.text() + " " + model::to_string(row.record.state);
    for (const auto& [id, row] : disk_.instances())
      if (row.record.state != model::InstanceState::kGone)
        left += "; " + id.text() + " " + model::to_string(row.record.state);
    left += "; " + std::to_string(cloud_.alive()) + " machines";
    if (leftovers_) left += "; " + std::to_string(leftovers_->left()) + " disks";
    complain(left);
  }
  if (!complaint_) check_end();
  if (has_digest_)
    std::printf("digest %llu %016llx\n", static_cast<unsigned long long>(seed_),
                static_cast<unsigned long long>(digest_.value()));
  return complaint_;
}

}  // namespace hostler::sim
