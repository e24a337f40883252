#include <algorithm>
#include <string>
#include <utility>

#include "core/planning/readers.h"
#include "core/planning/words.h"
#include "core/scheduler/fit.h"

/// The hosts of a snapshot.
namespace hostler::planning {
namespace {

using scheduler::HostView;

bool read_id(const json::Field& field, model::InstanceId& out) {
  std::string text;
  if (!field.text(text, {.bytes_max = 63, .one_line = true})) return false;
  const auto id = model::InstanceId::parse(text);
  if (!id) return field.refuse("an id of an instance such as \"h-7\"");
  out = *id;
  return true;
}

/// The host is as its offering and its pool say, unless the snapshot says otherwise.
void take_from_offering(const Question& question, HostView& out) {
  const auto& [policy, snapshot, time, pushes] = question;
  out.attempts_left = out.jobs_max = model::kJobsOnHostMax;
  if (out.offering >= snapshot.offerings.size()) return;
  const scheduler::Offering& o = snapshot.offerings[out.offering];
  out.total = o.resources;
  out.can_stop = o.can_stop;
  out.price_per_hour = o.price_per_hour;
  if (scheduler::is_valid(o, policy))
    out.attempts_left = out.jobs_max =
        model::jobs_max_of(policy.pools[o.pool], policy.types[o.type]);
}

/// Which cards of a host are free, if it has several kinds, or if `left` names them: the number is
/// read already. `all`: those that it has.
void take_cards(const json::Field& free, const model::GpuGroups& all, model::GpuGroups left,
                HostView& out) {
  const auto is_there = [&](const model::GpuGroup& one) {
    return std::ranges::any_of(all, [&](const model::GpuGroup& group) {
      return group.kind == one.kind && group.memory == one.memory && one.count <= group.count;
    });
  };
  const std::int32_t count = out.free.gpus;
  if (left.empty() && all.size() > 1 && count == out.total.gpus && count > 0) left = all;
  if (left.empty() && all.size() > 1 && count > 0)
    free.problem("found " + std::to_string(count) +
                 " gpus, allowed: how many of each kind, as it has several kinds");
  if (!std::ranges::all_of(left, is_there))
    free.problem("some of its gpus are not there, allowed: those of total, with kind and memory");
  out.cards = std::move(left);
}

/// All of it is free unless the snapshot says otherwise. `offered`: the cards of its offering.
void read_room(json::Object& o, const model::GpuGroups& offered, HostView& out) {
  const json::Field total = o.may("total"), free = o.may("free");
  read_resources(total, out.total, out.gpus);
  if (out.gpus == offered) out.gpus.clear();
  const model::GpuGroups& all = out.gpus.empty() ? offered : out.gpus;
  std::int32_t sum = 0;
  for (const model::GpuGroup& group : all) sum += group.count;
  if (all.size() > 1 && out.total.gpus != sum && out.total.gpus != 0)
    total.problem("found " + std::to_string(out.total.gpus) +
                  " gpus, allowed: how many of each kind, as its offering has several kinds");
  out.free = out.total;
  model::GpuGroups left;
  if (read_resources(free, out.free, left) && !out.free.fits_in(out.total))
    free.problem("more is free than there is, allowed: at most total in each resource");
  take_cards(free, all, std::move(left), out);
}

void read_times(json::Object& o, HostView& out) {
  out.created = out.since = kNow;
  read_age(o.may("age"), out.created);
  out.since = out.created;
  read_age(o.may("idle_for"), out.since);
  Mono unreachable;
  if (read_age(o.may("unreachable_for"), unreachable)) out.unreachable_since = unreachable;
}

void read_load(const json::Field& field, const Draft& draft, std::vector<demand::Load>& out) {
  field.each(10'000, [&](const json::Field& element) {
    element.object([&](json::Object& o) {
      demand::Load load;
      read_known_class(o.need("work"), draft, load.cls);
      o.need("count").integer(load.count, 1, kCountMax);
      out.push_back(load);
    });
  });
}

bool is_pushed(const Draft& draft, const HostView& host) {
  const auto& pools = draft.out.policy.pools;
  return host.pool < pools.size() && pools[host.pool].pushed;
}

void read_host(json::Object& o, Draft& draft, std::set<model::InstanceId>& taken) {
  HostView out;
  const json::Field id = o.need("id");
  if (read_id(id, out.id) && !taken.insert(out.id).second)
    id.problem("found \"" + out.id.text() + "\" a second time, allowed: each id once");
  const json::Field pool = o.need("pool"), offering = o.may("offering");
  read_reference(pool, draft.pools, "pool", out.pool);
  if (read_reference(offering, draft.offerings, "offering", out.offering) &&
      draft.out.snapshot.offerings[out.offering].pool != out.pool)
    offering.problem("it is an offering of another pool");
  o.need("phase").word(out.phase, kPhases);
  out.takes_work = out.phase == scheduler::HostPhase::kReady && !is_pushed(draft, out);
  take_from_offering(draft.out, out);
  for (const auto& flag : kHostFlags) o.may(flag.key).boolean(out.*flag.member);
  const auto& offerings = draft.out.snapshot.offerings;
  const bool is_offered = out.offering < offerings.size();
  read_room(o, is_offered ? offerings[out.offering].gpus : model::GpuGroups(), out);
  if (out.busy) --out.attempts_left;  // At least one runs.
  o.may("attempts_left").integer(out.attempts_left, 0, model::kJobsOnHostMax);
  o.may("price_per_hour").millionths(out.price_per_hour.value, 0, kMoneyMax);
  read_times(o, out);
  if (out.pool < draft.out.policy.pools.size())
    read_agent(o, draft.out.policy.pools[out.pool], out);
  Duration lent_for{};
  if (o.may("lent_for").duration(lent_for, Duration::zero(), kLongest))
    out.lent_until = kNow + lent_for;
  demand::ClassId reserved = 0;
  if (read_known_class(o.may("reserved_for"), draft, reserved)) out.reserved_for = reserved;
  double rank = 0;
  if (o.may("rank").number(rank, -kRankMax, kRankMax)) out.rank = rank;
  o.may("drain").word(out.drain, kDrainPhases);
  read_load(o.may("load"), draft, out.load);
  draft.out.snapshot.hosts.push_back(std::move(out));
}

}  // namespace

void read_hosts(const json::Field& field, Draft& draft) {
  std::set<model::InstanceId> taken;
  field.each(kListMax, [&](const json::Field& element) {
    element.object([&](json::Object& o) { read_host(o, draft, taken); });
  });
}

}  // namespace hostler::planning
