#include "core/dispatch/handlers/instance_steps.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "core/fleet/legal.h"
#include "core/pricing/doubt.h"

namespace hostler::dispatch {
namespace {

/// The cloud has said that it takes the instance back.
bool is_announced(const fleet::Instance& instance) {
  return instance.notices.is_cordoned() || instance.notices.was_stop_announced();
}

}  // namespace

void InstanceSteps::apply(Host& host, fleet::Outcome outcome, const char* actor, Now now) {
  auto& [policy, sets, hosts, ended, jobs, leases, gates, boots, commands, governor, pushes, plan,
         recorder] = owners_;
  const model::InstanceId id = host.id();
  auto& instance = host.instance;
  fleet::assert_legal(instance);
  if (outcome.event) {
    const auto& entry =
        recorder.record(actor, id.text(), *outcome.event, outcome.reason_code, outcome.reason, now);
    if (actor == std::string_view("scheduler")) plan.decided(instance.pool, entry);
  }
  const bool remembered = instance.record.state == model::InstanceState::kAbandoned ||
                          instance.record.state == model::InstanceState::kVanished;
  if (remembered && instance.deadline == fleet::kNever) {
    instance.deadline = now.mono + policy.abandoned_for;
    instance.record.deadline = now.wall + policy.abandoned_for;
  }
  if (outcome.changed) {
    const bool create_is_over = host.create && instance.create_is_over();
    recorder.change(model::InstanceChanged{instance.record, nullptr, create_is_over});
    if (create_is_over) host.create.reset();
  }
  count(host, now);
  fleet::watch_agent(instance, policy.pools[instance.pool], now);
  reachability_.update(host, now);
  if (boots.look(host, now)) consoles_.ask(host, now);
  for (const auto effect : outcome.effects) execute(effect, host, outcome.list_after, now);
  if (outcome.event == model::Event::kTerminating) end_claims(host, now);
  if (std::ranges::find(outcome.effects, fleet::Effect::kGone) != outcome.effects.end())
    gone(id, now);
  else
    hosts.schedule(host);
}

/// Work is not kept for a host that no call will make: others may get it.
void InstanceSteps::due(Host& host, Now now) {
  auto& instance = host.instance;
  const auto given_up = calls_.gives_up_create(host, now);
  apply(host,
        given_up ? fleet::create_failed(instance, *given_up, now)
                 : fleet::due(instance, owners_.policy.pools[instance.pool], now),
        "timer", now);
}

void InstanceSteps::execute(fleet::Effect effect, Host& host, Duration list_after, Now now) {
  const auto& record = host.instance.record;
  switch (effect) {
    case fleet::Effect::kConnect:
      if (!record.address.empty()) owners_.recorder.command(model::ConnectHost{target(host)});
      break;
    case fleet::Effect::kDisconnect:
      owners_.commands.lost(record.id, "the host is given up", now);
      owners_.recorder.command(model::DisconnectHost{record.id});
      break;
    case fleet::Effect::kCreateAgain:
      calls_.create(host, now);
      break;
    case fleet::Effect::kFinishCreate:
      calls_.finish_create(host, now);
      break;
    case fleet::Effect::kDestroy:
      consoles_.destroy(host, now);
      break;
    case fleet::Effect::kList:
      owners_.sets.at(host.instance.set)
          .want_list(owners_.policy.sets[host.instance.set], now.mono + list_after);
      break;
    case fleet::Effect::kLookUp:
      owners_.sets.at(host.instance.set).look_ups.to_send.insert(record.id);
      break;
    case fleet::Effect::kWorkLost:
      lose_work(host, now);
      break;
    case fleet::Effect::kRoomFreed:
      free_room(host, now);
      break;
    case fleet::Effect::kRetag:
      calls_.set_tags(host, now);
      break;
    case fleet::Effect::kStop:
      calls_.power(host, model::CloudOp::kStop, now);
      break;
    case fleet::Effect::kStart:
      calls_.power(host, model::CloudOp::kStart, now);
      break;
    case fleet::Effect::kGone:
      break;  // Last of all, for it ends the host: apply() does it.
  }
}

/// The cloud may say another price of an instance than of its type.
void InstanceSteps::doubt(const Host& host, model::Micros before, model::Micros price, Now now) {
  if (!host.instance.type) return;
  const auto configured = owners_.policy.types[*host.instance.type].price_per_hour;
  if (pricing::becomes_doubted(before, price, configured))
    owners_.gates.price_doubted(owners_.boots.query(host), price, configured, now);
}

void InstanceSteps::count(Host& host, Now now) {
  const auto& instance = host.instance;
  std::optional<model::Micros> price;
  if (instance.may_exist()) price = instance.record.price_per_hour;
  if (host.counted_price == price) return;
  auto& governor = owners_.governor;
  if (host.counted_price && price) doubt(host, *host.counted_price, *price, now);
  if (host.counted_price) governor.removed(instance.set, instance.pool, *host.counted_price);
  if (price) governor.added(instance.set, instance.pool, *price);
  if (!price) owners_.plan.want();  // A ceiling may have room again.
  host.counted_price = price;
}

void InstanceSteps::gone(model::InstanceId id, Now now) {
  Host* host = owners_.hosts.change(id);
  if (host == nullptr) return;
  lose_work(*host, now);
  const auto& instance = host->instance;
  if (host->counted_price)
    owners_.governor.removed(instance.set, instance.pool, *host->counted_price);
  free_room(*host, now);
  owners_.commands.lost(id, "the host is gone", now);
  reachability_.forget(*host);
  for (const auto& call : host->calls.all())
    if (call) owners_.gates.abandoned(*call, now);
  consoles_.forget(*host, now);
  if (host->tags.under_way > 0) owners_.gates.abandoned(CallGates::tags_query(*host), now);
  owners_.gates.forget(owners_.gates.query(*host, model::CloudOp::kDestroy));
  // One that vanished was not destroyed: it may exist, and is proved again if it is listed.
  const auto why = instance.record.reason_code;
  if (why != model::Reason::kVanished && why != model::Reason::kBelieved)
    owners_.ended.add(instance.record, now.mono);
  owners_.pushes.erased(instance.pool, id);
  owners_.hosts.erase(id);
  owners_.plan.want();
}

void InstanceSteps::lose_work(Host& host, Now now) {
  auto& instance = host.instance;
  const auto& record = instance.record;
  const bool is_off = record.state == model::InstanceState::kStopped;
  const std::string why = record.id.text() + (is_off ? " is off (" : " is gone (") +
                          to_string(record.reason_code) + ")" +
                          (is_off ? ": " + record.reason : "");
  const bool was_announced = is_announced(instance);
  const auto attempts = instance.occupancy.attempts();
  for (const auto& lost : attempts) {
    attempts_.finish(host, lost.attempt, now);
    if (work::Job* job = owners_.jobs.find(lost.attempt))
      job_steps_.apply(*job, work::host_gone(*job, why, now, was_announced), now);
  }
  const auto claims = instance.occupancy.claims();
  for (const auto& claim : claims) lose_claim(host, claim.work, why, was_announced, now);
  instance.occupancy.forget_unplaced();
  owners_.plan.want();
}

/// The machine may come back, as its holder has left it.
void InstanceSteps::lose_claim(Host& host, model::WorkId work, const std::string& why,
                               bool was_announced, Now now) {
  host.instance.occupancy.remove(work);
  work::Lease* lease = owners_.leases.find(work);
  if (lease == nullptr) return;
  const bool was_open = lease->state() != model::WorkState::kStarting || lease->has_account();
  lease_steps_.apply(*lease, work::host_gone(*lease, why, was_announced, now), now);
  if (!was_open) return;
  auto outcome = fleet::lease_ended(host.instance, work, now);
  if (outcome.changed) apply(host, std::move(outcome), "dispatcher", now);
}

/// What waits again may get another host at once, so nothing of it is kept for this one.
void InstanceSteps::end_claims(Host& host, Now now) {
  const auto& record = host.instance.record;
  const std::string why = record.id.text() + " is being destroyed (" +
                          to_string(record.reason_code) + ")" +
                          (record.reason.empty() ? "" : ": " + record.reason);
  const bool was_announced = is_announced(host.instance);
  const auto claims = host.instance.occupancy.claims();
  for (const auto& claim : claims) {
    work::Lease* lease = owners_.leases.find(claim.work);
    if (lease == nullptr) continue;
    if (lease->state() == model::WorkState::kStarting) host.instance.occupancy.remove(claim.work);
    lease_steps_.apply(*lease, work::host_ends(*lease, why, was_announced), now);
  }
}

void InstanceSteps::free_room(const Host& host, Now now) {
  const auto& record = host.instance.record;
  // A create that was refused, at once or later, freed nothing: its own quota gate stays shut.
  if (record.provider_id.empty() || host.instance.listing.shortage()) return;
  std::string group;
  if (host.instance.type)
    group = owners_.sets.quota_group(host.instance.set, owners_.policy.types[*host.instance.type]);
  const std::string why = record.id.text() + " is gone (" + to_string(record.reason_code) + ")";
  owners_.gates.destroyed(record.set, group, why, now);
  owners_.plan.want();
}

model::HostTarget InstanceSteps::target(const Host& host) const {
  const auto& record = host.instance.record;
  const auto& set = owners_.policy.sets[host.instance.set];
  return {
      .instance = record.id,
      .set = record.set,
      .provider_id = record.provider_id,
      .address = record.address,
      .port = record.ssh_port,
      .user = set.remote_user.empty() ? record.remote_user : set.remote_user,
      .pool = record.pool,
      .identity = record.identity,
      .was_ready = record.ready.us != 0 && record.state != model::InstanceState::kBooting,
      .is_untouched = host.create != nullptr && !record.restored && record.ready.us == 0 &&
                      record.first_job.us == 0 && host.instance.empty(),
      .with_agent = fleet::evidence_of(host.instance, owners_.policy.pools[host.instance.pool]) ==
                    model::Readiness::kAgent};
}

}  // namespace hostler::dispatch
