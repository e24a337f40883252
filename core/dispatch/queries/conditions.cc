#include "core/dispatch/queries/conditions.h"

#include <algorithm>

#include "core/base/text.h"
#include "core/base/units.h"
#include "core/dispatch/queries/cards.h"
#include "core/dispatch/queries/push_views.h"
#include "core/fleet/step.h"
#include "core/fleet/uses.h"
#include "core/model/currency.h"

namespace hostler::dispatch {

using model::InstanceState;

namespace {

constexpr std::size_t kIdsShown = 3;

std::string text_of(Mono at, Now now) { return format_wall(now.wall + (at - now.mono)); }

std::string unlisted(const fleet::Instance& instance) {
  const auto& absence = *instance.listing.absence();
  return "omitted by lists since " + format_wall(absence.since) +
         (instance.link.is_live() ? ", but connected" : "") +
         (absence.withheld ? "; gets no new jobs" : "");
}

std::string unreachable(const fleet::Instance& instance, Mono since, const Set& set, Now now) {
  const std::string text = "its host cannot be reached since " + text_of(since, now) + "; ";
  if (instance.record.idle_behavior == model::IdleBehavior::kHold)
    return text + "an admin holds it";
  if (const auto& partition = set.reach.partition; partition && partition->until > now.mono)
    return text + "it keeps its jobs until " + text_of(partition->until, now) +
           ", because hosts of set " + set.name + " became unreachable together";
  if (instance.deadline == fleet::kNever || instance.deadline <= now.mono) return text + "it ends";
  return text + "it keeps its jobs until " + text_of(instance.deadline, now);
}

std::string without_jump_host(const JumpHostProblem& problem, const model::SetPolicy& set) {
  return "jump host " + set.jump_host +
         ", through which its hosts are reached, cannot be used since " +
         format_wall(problem.since) + ": " + problem.text;
}

std::string vanished(const fleet::Instance& instance) {
  const std::string id = instance.record.id.text();
  std::string again = "it is used again if the cloud lists it";
  if (!instance.listing.counts_vanished()) return again;
  return "it counts for ceilings until " + format_wall(instance.record.deadline) + "; " + again +
         "; 'hostler kill " + id + "' destroys it, which frees its room";
}

std::string left_alone(const fleet::Instance& instance) {
  const auto& all = instance.occupancy.left_alone();
  const std::string id = instance.record.id.text();
  std::string out = "its host reports " + all.begin()->first.text();
  if (all.size() > 1) out += " and " + std::to_string(all.size() - 1) + " more attempts";
  return out +
         ", of which too little is known here to end them: the host is kept with their output; "
         "'hostler kill " +
         id + "' ends it";
}

std::string without_image(const model::ImageQuery& query, const FoundImage& found) {
  const std::string text = "image " + model::to_string(query) + ": " + found.error + "; ";
  if (!found.image) return text + "nothing is created with it";
  return text + printable(found.image->id, model::kForeignNameMax) + ", last found at " +
         format_wall(found.found) + ", stays in use";
}

/// "disk d-1, disk d-2 and 3 more", of the things that `is_told` chooses; empty: none.
template <class IsTold>
std::string names_of_things(const SetLeftovers& set, const IsTold& is_told) {
  std::string out;
  std::size_t count = 0;
  for (const auto& [name, thing] : set.things) {
    if (!is_told(thing) || ++count > kIdsShown) continue;
    out += (out.empty() ? "" : ", ") + printable(name.type, 60) + " " +
           printable(name.id, model::kForeignNameMax);
  }
  return count > kIdsShown ? out + " and " + std::to_string(count - kIdsShown) + " more" : out;
}

void add_leftovers(const SetLeftovers& set, model::LeftoverRule rule, bool can_list,
                   std::vector<std::string>& texts) {
  if (rule == model::LeftoverRule::kOff) return;
  const bool destroys = rule == model::LeftoverRule::kDestroy;
  if (destroys && !can_list)
    texts.emplace_back("leftovers cannot be destroyed: the driver cannot list them");
  if (!set.error.empty()) texts.push_back("leftovers cannot be listed: " + set.error);
  // What is to be destroyed is no news; what is left to an admin is.
  const auto is_left = [&](const Thing& thing) {
    return thing.confirmed && (!destroys || (thing.instance_id.empty() && thing.key.empty()));
  };
  const auto left =
      std::ranges::count_if(set.things, is_left, &std::pair<const ThingName, Thing>::second);
  if (left > 0)
    texts.push_back(
        std::to_string(left) +
        (left == 1 ? " thing outlived its instance" : " things outlived their instances") +
        " and may cost money: " + names_of_things(set, is_left) +
        (destroys ? "; which instance is not known, so only an admin can destroy them"
                  : "; `leftovers` is \"report\", so only an admin destroys them"));
  const auto is_refused = [](const Thing& thing) { return !thing.error.empty(); };
  const auto refused =
      std::ranges::find_if(set.things, is_refused, &std::pair<const ThingName, Thing>::second);
  if (refused != set.things.end())
    texts.push_back(names_of_things(set, is_refused) +
                    " cannot be destroyed: " + refused->second.error);
}

std::string interrupted(const fleet::Instance& instance, const model::PoolPolicy& pool) {
  const auto& notice = *instance.record.interruption;
  return to_string(notice) + (instance.notices.is_cordoned()
                                  ? "; it gets no new jobs"
                                  : "; it gets no new jobs from " +
                                        format_wall(notice.at + -pool.interruption_lead) + " on");
}

std::string less_scratch(std::int64_t reported, std::int64_t of_type) {
  return "its host reports " + format_size(reported) + " of scratch, its type has " +
         format_size(of_type) + ": jobs there get no more than it reports";
}

std::string unknown_since_restore(const fleet::Instance& instance, const model::PoolPolicy& pool) {
  const bool has_agent = fleet::evidence_of(instance, pool) == model::Readiness::kAgent;
  return (has_agent ? "its host has not reported its work since the restore: what is not known "
                      "here may run on it, so only 'hostler kill "
                    : "since the backup it may have been lent: it gets no new work, and only "
                      "'hostler kill ") +
         instance.record.id.text() + "' ends it";
}

/// What it waits for before it goes.
std::string drain_text(const fleet::Instance& instance, const model::PoolPolicy& pool, Now now) {
  const auto& record = instance.record;
  std::string text = "it goes, as the bounds of pool " + pool.name + " want fewer hosts: since " +
                     format_wall(record.drain_began) + " it gets no new work";
  if (record.drain_over)
    return text + ", and its drain is over" + (instance.empty() ? "" : "; work is still on it");
  const auto& drain = instance.ending.drain;
  const bool asks_quiet = pool.scaling.drain && !pool.scaling.drain->quiet.empty();
  if (drain.command_runs()) text += "; its drain command runs";
  if (drain.command_failed()) text += "; its drain command failed";
  if (!drain.command_runs() && asks_quiet) text += "; it is not quiet yet, as far as is known";
  return text + "; its drain is over " + text_of(drain.deadline(), now) + " at the latest";
}

bool is_expected(InstanceState state) {
  return state != InstanceState::kTerminating && state != InstanceState::kAbandoned &&
         state != InstanceState::kVanished && state != InstanceState::kGone;
}

/// The call that a gate of crashes holds back: "create of small in pool default".
std::string call_text(const model::GateRecord& gate) {
  std::string function = gate.crash ? gate.crash->call : to_string(gate.op);
  if (gate.op == model::CloudOp::kDestroy) return function + " of " + gate.instance.text();
  if (gate.op != model::CloudOp::kCreate) return function;
  return function + " of " + gate.type + (gate.zone.empty() ? "" : " in zone " + gate.zone) +
         " for pool " + gate.pool;
}

std::string held_back(const gates::Gate& gate, Now now) {
  const auto& record = gate.record;
  const std::string holds = gates::is_of_crashes(record)
                                ? call_text(record) + " is not asked again before "
                                : "such calls are held back until ";
  return holds + text_of(std::max(gate.until, now.mono), now) + ": " + record.message +
         "; hostler gates open \"" + record.key + "\" asks now";
}

/// Why a host that is to end is still there; empty: nothing holds that back.
std::string unfinished_end(const Host& host, const State& all, Now now) {
  using model::CloudOp;
  const Set& set = all.sets.at(host.instance.set);
  const std::string costs = "it is not destroyed, and may cost money: ";
  const auto* gate = all.gates.shut(all.gates.query(host, CloudOp::kDestroy), now.mono);
  if (gate != nullptr && !host.calls.destroys()) return costs + held_back(*gate, now);
  gate = all.gates.held_by_crashes({.set = set.name, .op = CloudOp::kOpen}, now.mono);
  if (!set.is_open() && gate != nullptr)
    return costs + "set " + set.name + " is not open: " + held_back(*gate, now);
  if (!set.is_open() && !set.problem.empty())
    return costs + "set " + set.name + " is not open: " + set.problem;
  gate = all.gates.shut({.set = set.name, .op = CloudOp::kList}, now.mono);
  return gate == nullptr ? "" : "no list can show that it is gone: " + held_back(*gate, now);
}

/// A set that is asked what it offers does not say it.
std::string offerings_problem(const State& state, const Set& set) {
  const auto index = state.sets.index_of(set.name);
  const auto* offered = state.offered.find(set.name);
  if (!index || offered == nullptr || !state.offered.asked().contains(*index)) return {};
  if (offered->problem.empty()) return {};
  const std::string rest = offered->rows.empty() ? "pools that choose types find none there"
                                                 : "the types that it offered before stay";
  return "it does not say which types it offers, and " + rest + ": " + offered->problem;
}

/// A set that does not say what its types cost.
std::string unknown_prices(const State& state, std::uint32_t set, Now now) {
  std::string types, error;
  for (const auto& [type, answer] : state.prices.of(set)) {
    if (!PriceAnswers::is_given_up(answer, now.mono)) continue;
    types += (types.empty() ? "" : ", ") + type;
    error = answer.error;
  }
  if (types.empty()) return {};
  return "it does not say what these types cost: " + types +
         "; the prices from before or the configured ones count, also for price caps and "
         "ceilings: " +
         error;
}

}  // namespace

std::string names_of(const std::vector<model::InstanceId>& ids) {
  std::string out;
  for (std::size_t i = 0; i < ids.size() && i < kIdsShown; ++i)
    out += (i == 0 ? "" : ", ") + ids[i].text();
  if (ids.size() > kIdsShown) out += " and " + std::to_string(ids.size() - kIdsShown) + " more";
  return out;
}

bool is_unlisted(const fleet::Instance& instance) {
  return instance.listing.absence() && is_expected(instance.record.state);
}

std::vector<std::string> conditions_of(const Host& host, const State& all, Now now) {
  std::vector<std::string> out;
  const auto& instance = host.instance;
  const Set& set = all.sets.at(instance.set);
  const auto& pool = all.policy.pools[instance.pool];
  const auto state = instance.record.state;
  if (is_unlisted(instance)) out.push_back(unlisted(instance));
  if (set.lists.is_overdue() && fleet::awaits_list(instance, pool))
    out.push_back("set " + set.name + " has " + set.without_list(now.mono) +
                  ": only a list can show that it comes up, and other hosts may get its jobs");
  if (const auto lost = set.reach.unreachable.find(host.id());
      is_expected(state) && lost != set.reach.unreachable.end())
    out.push_back(unreachable(instance, lost->second, set, now));
  if (const auto& problem = set.reach.jump_host;
      problem && is_expected(state) && !instance.link.is_connected())
    out.push_back("set " + set.name + ": " +
                  without_jump_host(*problem, all.policy.sets[instance.set]));
  if (is_expected(state) && instance.record.restored)
    out.push_back(unknown_since_restore(instance, pool));
  if (is_expected(state) && fleet::is_used_up(instance.record, pool))
    out.push_back("it gets no new work and goes when it is empty: " +
                  fleet::uses_text(instance.record, pool));
  if (is_expected(state) && !instance.occupancy.left_alone().empty())
    out.push_back(left_alone(instance));
  if (is_expected(state) && instance.type && instance.occupancy.reported_scratch())
    if (const auto of_type = all.policy.types[*instance.type].resources.scratch;
        *instance.occupancy.reported_scratch() < of_type)
      out.push_back(less_scratch(*instance.occupancy.reported_scratch(), of_type));
  if (is_expected(state)) add_cards(instance, all.policy, out);
  if (is_expected(state) && instance.record.interruption)
    out.push_back(interrupted(instance, pool));
  if (is_expected(state) && instance.record.drain_began.us != 0)
    out.push_back(drain_text(instance, pool, now));
  if (auto text = condition_of_agent(all, host, now); !text.empty()) out.push_back(std::move(text));
  if (is_expected(state) && host.closed == scheduler::Closed::kBeyondMax)
    out.push_back(
        "it gets no new jobs and goes when it is empty: pool " + pool.name +
        " has more instances than its max of " +
        all.bounds.numbers(all.policy, all.hosts, all.set_aside, instance.pool).started.max.text());
  if (is_expected(state) && host.closed == scheduler::Closed::kOffMenu)
    out.push_back("it gets no new jobs and goes when it is empty: pool " + pool.name +
                  " no longer has the type " + instance.record.type);
  if (is_expected(state) && instance.told.has_init_failed())
    out.emplace_back("its init command failed");
  if (state == InstanceState::kVanished) out.push_back(vanished(instance));
  if (state == InstanceState::kTerminating && instance.ending.is_ignored())
    out.push_back(instance.record.last_text);
  if (state == InstanceState::kTerminating)
    if (auto text = unfinished_end(host, all, now); !text.empty()) out.push_back(std::move(text));
  return out;
}

std::vector<std::vector<std::string>> conditions_of_sets(const State& state, Now now) {
  std::vector<std::vector<model::InstanceId>> ignored(state.sets.size());
  for (const auto& [id, host] : state.hosts.all())
    if (host.instance.record.state == InstanceState::kTerminating &&
        host.instance.ending.is_ignored())
      ignored[host.instance.set].push_back(id);
  std::vector<std::vector<std::string>> out;
  for (const Set& set : state.sets.all()) {
    auto& texts = out.emplace_back();
    if (auto text = set.without_list(now.mono); !text.empty()) texts.push_back(std::move(text));
    if (set.omissions.doubt())
      texts.push_back("the last list omits " + std::to_string(set.omissions.instances().size()) +
                      (set.omissions.instances().size() == 1 ? " instance" : " instances") +
                      "; see hostler sets believe " + set.name);
    if (set.strangers.is_doubted()) texts.push_back(set.strangers.refuses_creates(set.name));
    if (const auto& problem = set.reach.jump_host)
      texts.push_back(without_jump_host(*problem, state.policy.sets[out.size() - 1]));
    if (const auto& partition = set.reach.partition)
      texts.push_back("hosts became unreachable together at " + format_wall(partition->since) +
                      model::behind_jump_host(state.policy.sets[out.size() - 1]) +
                      "; they keep their jobs until " + text_of(partition->until, now) +
                      "; hostler sets give-up " + set.name + " destroys them now");
    for (const auto& [key, gate] : state.gates.all())
      if (gate.record.set == set.name && gates::is_of_crashes(gate.record) && gate.until > now.mono)
        texts.push_back(held_back(gate, now));
    for (const auto& [query, found] : state.images.of(static_cast<std::uint32_t>(out.size() - 1)))
      if (!found.error.empty()) texts.push_back(without_image(query, found));
    add_leftovers(state.leftovers.of(static_cast<std::uint32_t>(out.size() - 1)),
                  state.policy.sets[out.size() - 1].leftovers,
                  !set.is_open() || set.info.has_leftovers, texts);
    if (const auto& ids = ignored[out.size() - 1]; !ids.empty())
      texts.push_back("the cloud accepts the destroys of " + names_of(ids) +
                      " and does nothing: they may still cost money; see hostler why " +
                      ids.front().text());
    if (auto text = offerings_problem(state, set); !text.empty()) texts.push_back(std::move(text));
    if (auto text = unknown_prices(state, static_cast<std::uint32_t>(out.size() - 1), now);
        !text.empty())
      texts.push_back(std::move(text));
    if (!model::rate_of(state.policy, set.info.currency))
      texts.push_back(model::no_rate_text(state.policy, set.info.currency));
  }
  return out;
}

std::string held_state(const State& state, const Set& set, Now now) {
  const auto held = [&](model::CloudOp op) {
    return state.gates.held_by_crashes({.set = set.name, .op = op}, now.mono);
  };
  const auto next_try = [&](const gates::Gate& gate) {
    return ", next try " + text_of(std::max(gate.until, now.mono), now);
  };
  if (const auto* gate = held(model::CloudOp::kOpen)) return "crashed" + next_try(*gate);
  if (const auto* gate = held(model::CloudOp::kList))
    return "suspended: the driver dies in list" + next_try(*gate);
  return {};
}

std::string vanished_that_count(const State& state) {
  std::vector<model::InstanceId> ids;
  for (const auto& [id, host] : state.hosts.all())
    if (host.instance.record.state == InstanceState::kVanished &&
        host.instance.listing.counts_vanished())
      ids.push_back(id);
  return ids.empty() ? "" : "; vanished instances still count: " + names_of(ids);
}

}  // namespace hostler::dispatch
