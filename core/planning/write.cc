#include "core/planning/write.h"

#include <algorithm>
#include <cmath>

#include "core/base/units.h"
#include "core/json/gpus.h"
#include "core/planning/readers.h"
#include "core/planning/words.h"
#include "core/planning/writers.h"

namespace hostler::planning {
namespace {

using scheduler::HostView;
using scheduler::Offering;

void write_pool(json::Writer& w, const model::PoolPolicy& pool,
                const std::optional<LastPush>& push) {
  w.begin_object().member("name", pool.name);
  write_sizes(w, pool.sizes);
  w.member("idle_timeout", exact_duration(pool.idle_timeout));
  w.member("boot_timeout", exact_duration(pool.boot_timeout));
  w.member("probe_timeout", exact_duration(pool.probe_timeout));
  w.member("shutdown_timeout", exact_duration(pool.shutdown_timeout));
  w.member("spot_patience", exact_duration(pool.spot_patience));
  w.member("spot_shortage_patience", exact_duration(pool.spot_shortage_patience));
  w.member("starvation_after", exact_duration(pool.starvation_after));
  w.member("price_factor_max", pool.price_factor_max);
  write_money(w, "price_cap_per_hour", pool.price_cap_per_hour);
  w.member("attempts_parallel_max", pool.attempts_parallel_max);
  if (pool.readiness != model::Readiness::kAgent) w.member("readiness", to_string(pool.readiness));
  if (pool.leases)  // No plan goes by the command.
    w.key("leases")
        .begin_object()
        .member("max_term", exact_duration(pool.leases->max_term))
        .end_object();
  if (pool.uses_max > 0) w.member("uses_max", pool.uses_max);
  if (pool.pushed) write_pushed(w, *pool.pushed);
  if (push) write_push(w, *push);
  write_scaling(w, pool.scaling);
  w.end_object();
}

void write_policy(json::Writer& w, const Question& question, std::string& lines) {
  const model::SitePolicy& policy = question.policy;
  w.key("types").begin_array();
  for (const auto& type : policy.types) {
    w.begin_object().member("name", type.name);
    write_money(w, "price", type.price_per_hour);
    if (type.jobs_max > 0) w.member("jobs_max", type.jobs_max);
    w.end_object();
    lines += '\n';
  }
  w.end_array().key("sets").begin_array();
  for (const auto& set : policy.sets) w.begin_object().member("name", set.name).end_object();
  w.end_array().key("pools").begin_array();
  for (std::size_t p = 0; p < policy.pools.size(); ++p) {
    write_pool(w, policy.pools[p], scheduler::entry_of(question.pushes, p));
    lines += '\n';
  }
  w.end_array();
}

void write_headroom(json::Writer& w, const gates::Headroom& room) {
  w.begin_object();
  for (const Room& one : kRooms)
    if (const auto& left = room.*one.member) w.member(one.key, *left);
  if (const auto& price = room.price_per_hour)
    w.key("price_per_hour").millionths(std::clamp(price->value, -kMoneyMax, kMoneyMax));
  w.end_object();
}

/// Of each set or pool that has a headroom, by its name.
template <class Named>
void write_headrooms(json::Writer& w, const char* key, const std::vector<Named>& named,
                     const std::vector<gates::Headroom>& rooms) {
  w.key(key).begin_object();
  for (std::size_t i = 0; i < std::min(named.size(), rooms.size()); ++i)
    write_headroom(w.key(named[i].name), rooms[i]);
  w.end_object();
}

void write_ceilings(json::Writer& w, const Question& question) {
  const auto& [policy, snapshot, time, pushes] = question;
  w.key("headroom").begin_object();
  write_headroom(w.key("site"), snapshot.site);
  write_headrooms(w, "sets", policy.sets, snapshot.sets);
  write_headrooms(w, "pools", policy.pools, snapshot.pools);
  w.end_object();
  w.key("set_aside").begin_object();
  for (std::size_t i = 0; i < std::min(policy.pools.size(), snapshot.set_aside.size()); ++i)
    w.member(policy.pools[i].name, snapshot.set_aside[i]);
  w.end_object().key("rests").begin_object();
  for (std::size_t i = 0; i < std::min(policy.pools.size(), snapshot.rests.size()); ++i) {
    const auto& [hosts, exchange] = snapshot.rests[i];
    if (hosts == 0 && !exchange) continue;
    w.key(policy.pools[i].name).begin_object();
    w.member("hosts", hosts).member("exchange", exchange).end_object();
  }
  w.end_object().member("has_limits", snapshot.has_limits);
}

/// Those above 100 days are cut to seconds.
std::string cut_duration(Duration duration) {
  constexpr Duration kExactTo = std::chrono::hours(24 * 100);
  if (duration > kExactTo) duration -= duration % std::chrono::seconds(1);
  return exact_duration(duration);
}

/// More than 0.
std::string time_until(Mono time, Mono now) {
  return cut_duration(std::clamp(time - now, Duration(1), kLongest));
}

void write_bound(json::Writer& w, const scheduler::Bound& bound, Mono now) {
  w.begin_object().member("bound", word_of(bound.of, kBoundWords)).member("source", bound.source);
  if (bound.number) w.member("number", std::clamp<std::int64_t>(*bound.number, 0, kHostsMax));
  write_text(w, "reason", bound.reason.substr(0, kReasonMax));
  if (bound.until) w.member("holds_for", time_until(*bound.until, now));
  w.end_object();
}

/// Of all sources but the configuration: the pools themselves have what it says.
void write_bounds(json::Writer& w, const Question& question) {
  const auto& policy = question.policy;
  const auto& snapshot = question.snapshot;
  const auto is_written = [&](std::size_t pool, const scheduler::Bound& bound) {
    return bound.source != scheduler::kPushedSource || !scheduler::entry_of(question.pushes, pool);
  };
  const auto has_any = [&](std::size_t pool) {
    return std::ranges::any_of(snapshot.bounds[pool],
                               [&](const auto& bound) { return is_written(pool, bound); });
  };
  if (std::ranges::all_of(snapshot.bounds, &std::vector<scheduler::Bound>::empty)) return;
  w.key("bounds").begin_object();
  for (std::size_t i = 0; i < std::min(policy.pools.size(), snapshot.bounds.size()); ++i) {
    if (!has_any(i)) continue;
    w.key(policy.pools[i].name).begin_array();
    for (const auto& bound : snapshot.bounds[i])
      if (is_written(i, bound)) write_bound(w, bound, snapshot.now);
    w.end_array();
  }
  w.end_object();
}

std::string id_of_offering(std::uint32_t index) { return "o-" + std::to_string(index + 1); }

void write_offering(json::Writer& w, const model::SitePolicy& policy, const Offering& o,
                    std::uint32_t index) {
  w.begin_object().member("id", id_of_offering(index));
  w.member("pool", policy.pools[o.pool].name).member("set", policy.sets[o.set].name);
  w.member("type", policy.types[o.type].name);
  write_text(w, "zone", o.zone);
  write_text(w, "subnet", o.subnet);
  w.member("market", word_of(o.market, kMarkets));
  write_resources(w, o.resources, o.gpus);
  write_slots(w, o.resources, o.resources.gpus);
  write_money(w, "price_per_hour", o.price_per_hour);
  write_text(w, "shut", o.shut.substr(0, kReasonMax));
  write_text(w, "quota_group", o.quota_group);
  for (const auto& flag : kOfferingFlags)
    if (o.*flag.member) w.member(flag.key, true);
  write_text(w, "note", o.note);
  w.end_object();
}

model::Resources not_negative(model::Resources r) {
  return {.vcpus = std::max(model::Vcpus(), r.vcpus),
          .gpus = std::max(0, r.gpus),
          .ram = std::max<std::int64_t>(0, r.ram),
          .scratch = std::max<std::int64_t>(0, r.scratch),
          .slots = std::max(0, r.slots)};
}

/// `usual`: what a reader would take for a resource that is missing.
void write_room(json::Writer& w, const model::Resources& room, model::GpuGroups gpus,
                const model::Resources& usual) {
  std::erase_if(gpus, [](const model::GpuGroup& group) { return group.count <= 0; });
  w.begin_object();
  write_resources(w, not_negative(room), gpus);
  write_slots(w, not_negative(room), usual.slots);
  if (room.scratch <= 0 && usual.scratch > 0) w.member("scratch", exact_size(0));
  if (room.gpus <= 0 && usual.gpus > 0) w.member("gpus", 0);
  w.end_object();
}

void write_host(json::Writer& w, const Question& question, const HostView& host) {
  const Mono now = question.snapshot.now;
  w.begin_object().member("id", host.id.text());
  w.member("pool", question.policy.pools[host.pool].name);
  if (host.offering < question.snapshot.offerings.size())
    w.member("offering", id_of_offering(host.offering));
  w.member("phase", word_of(host.phase, kPhases));
  HostView usual;
  usual.takes_work =
      host.phase == scheduler::HostPhase::kReady && !question.policy.pools[host.pool].pushed;
  usual.was_listed =
      host.agent == scheduler::AgentState::kIdle || host.agent == scheduler::AgentState::kBusy;
  if (host.offering < question.snapshot.offerings.size()) {
    const Offering& offering = question.snapshot.offerings[host.offering];
    usual.can_stop = offering.can_stop;
    usual.total = offering.resources;
  }
  for (const auto& flag : kHostFlags)
    if (host.*flag.member != usual.*flag.member) w.member(flag.key, host.*flag.member);
  write_room(w.key("total"), host.total, host.gpus, usual.total);
  write_room(w.key("free"), host.free, host.cards, host.total);
  w.member("attempts_left", std::min(host.attempts_left, model::kJobsOnHostMax));
  write_money(w, "price_per_hour", host.price_per_hour);
  w.member("age", age_of(host.created, now)).member("idle_for", age_of(host.since, now));
  if (host.unreachable_since) w.member("unreachable_for", age_of(*host.unreachable_since, now));
  if (host.lent_until)
    w.member("lent_for", exact_duration(std::max(Duration::zero(), *host.lent_until - now)));
  if (host.reserved_for) w.member("reserved_for", text_of(*host.reserved_for));
  if (host.rank && std::isfinite(*host.rank)) w.member("rank", *host.rank);
  if (host.agent != scheduler::AgentState::kNone)
    w.member("agent", word_of(host.agent, kAgentStates))
        .member("agent_for", age_of(host.agent_since, now));
  if (host.drain != scheduler::DrainPhase::kNone)
    w.member("drain", word_of(host.drain, kDrainPhases));
  if (!host.load.empty()) {
    w.key("load").begin_array();
    for (const auto& load : host.load)
      w.begin_object().member("work", text_of(load.cls)).member("count", load.count).end_object();
    w.end_array();
  }
  w.end_object();
}

}  // namespace

template <class Gpus>
void write_resources(json::Writer& w, const model::Resources& resources, const Gpus& gpus) {
  w.key("vcpus").thousandths(resources.vcpus.thousandths());
  w.member("ram", exact_size(resources.ram));
  if (resources.scratch != 0) w.member("scratch", exact_size(resources.scratch));
  json::write_gpus(w, resources.gpus, gpus);
}
template void write_resources(json::Writer& w, const model::Resources& resources,
                              const model::GpuWish& gpus);
template void write_resources(json::Writer& w, const model::Resources& resources,
                              const model::GpuGroups& gpus);

void write_slots(json::Writer& w, const model::Resources& resources, std::int32_t usual) {
  if (resources.slots != usual) w.member("slots", resources.slots);
}

std::string age_of(Mono time, Mono now) {
  return cut_duration(std::clamp(now - time, Duration{}, kLongest));
}

void write_money(json::Writer& w, const char* key, model::Micros money) {
  w.key(key).millionths(std::clamp<std::int64_t>(money.value, 0, kMoneyMax));
}

void write_text(json::Writer& w, const char* key, const std::string& text) {
  if (!text.empty()) w.member(key, text);
}

std::string write_question(const Question& question) {
  const auto& [policy, snapshot, time, pushes] = question;
  std::string out;
  json::Writer w(out);
  w.begin_object().member("version", kVersion);
  if (time) w.member("time", exact_wall(*time));
  out += '\n';
  write_policy(w, question, out);
  write_ceilings(w, question);
  write_bounds(w, question);
  w.key("offerings").begin_array();
  for (std::uint32_t i = 0; i < snapshot.offerings.size(); ++i) {
    write_offering(w, policy, snapshot.offerings[i], i);
    out += '\n';
  }
  w.end_array();
  write_work(w, question, out);
  w.key("hosts").begin_array();
  for (const auto& host : snapshot.hosts) {
    write_host(w, question, host);
    out += '\n';
  }
  w.end_array().end_object();
  return out += '\n';
}

}  // namespace hostler::planning
