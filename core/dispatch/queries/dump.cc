#include <algorithm>
#include <string>

#include "core/dispatch/queries.h"
#include "core/dispatch/queries/timers.h"
#include "core/dispatch/state/state.h"

/// The parts that only a dump shows: work of all kinds, targets of pools, calls under way.
namespace hostler::dispatch {
namespace {

std::optional<Wall> wall_of(std::optional<Mono> time, Now now) {
  return time ? std::optional(now.wall + (*time - now.mono)) : std::nullopt;
}

void add_numbers(model::TargetView& out, const scheduler::PoolNumbers& numbers) {
  const auto add = [&](const char* bound, const scheduler::BoundNumber& of) {
    if (of.value >= scheduler::kNoLimit) return;
    const std::string& mark = of.mark;  // " (pushed: 7 tasks)"
    out.numbers.push_back(
        {bound, of.value,
         mark.size() > 3 ? mark.substr(2, mark.size() - 3) : scheduler::kConfigSource});
  };
  add("started_min", numbers.started.min);
  add("started_max", numbers.started.max);
  if (numbers.has_created) {
    add("created_min", numbers.created.min);
    add("created_max", numbers.created.max);
  }
  add("standby", numbers.standby);
  add("stopped", numbers.stopped);
}

/// Collects calls under way.
class Calls {
 public:
  explicit Calls(Now now) : now_(now) {}
  void add(const std::string& of, const char* call, std::optional<Mono> sent = {},
           const std::string& about = {}) {
    all.push_back({.of = of, .call = call, .about = about, .since = wall_of(sent, now_)});
  }
  std::vector<model::CallView> all;

 private:
  const Now now_;
};

void add_set(Calls& out, const Set& set, const SetWatch& watch) {
  const std::string of = "set " + set.name;
  if (set.opening.is_under_way())
    out.add(of, to_string(model::CloudOp::kOpen), set.opening.sent_at());
  if (const auto sent = set.lists.under_way_since())
    out.add(of, to_string(model::CloudOp::kList), sent);
  if (set.look_ups.under_way) out.add(of, "look_up");
  if (watch.number) out.add(of, to_string(model::CloudOp::kWatch), watch.sent);
}

void add_host(Calls& out, const Host& host) {
  const std::string of = host.id().text();
  for (const auto& call : host.calls.all()) {
    if (!call) continue;
    const bool creates = call->op == model::CloudOp::kCreate;
    out.add(of, to_string(call->op),
            creates ? std::optional(host.calls.create_sent_at()) : std::nullopt);
  }
  if (host.tags.under_way > 0) out.add(of, to_string(model::CloudOp::kSetTags));
  if (host.console && host.console->under_way) out.add(of, to_string(model::CloudOp::kConsole));
}

std::vector<model::TargetView> targets_of(const model::SitePolicy& policy,
                                          const std::vector<scheduler::PoolNumbers>& bounds) {
  std::vector<model::TargetView> out;
  for (std::size_t pool = 0; pool < bounds.size(); ++pool) {
    auto& view = out.emplace_back();
    view.pool = policy.pools[pool].name;
    view.is_held = bounds[pool].is_held;
    add_numbers(view, bounds[pool]);
  }
  return out;
}

/// Each kind of work has an entry.
std::vector<model::WorkCountView> work_of(const State& state) {
  std::vector<model::WorkCountView> out;
  const auto add = [&](const char* kind, const auto& counts, const auto& name) {
    auto& view = out.emplace_back();
    view.kind = kind;
    for (std::size_t i = 0; i < counts.size(); ++i)
      if (counts[i] > 0) view.states[name(model::kLiveStates[i])] = counts[i];
  };
  add("job", state.jobs.counts(), [](model::WorkState of) { return model::to_string(of); });
  add("lease", state.leases.counts(), model::lease_state);
  return out;
}

/// Attempts of jobs, and claims of work of other kinds.
std::vector<model::PlacedView> placed_of(const Hosts& hosts, Now now) {
  std::vector<model::PlacedView> out;
  for (const auto& [id, host] : hosts.all()) {
    for (const auto& placed : host.instance.occupancy.attempts())
      out.push_back({.work = placed.attempt.work,
                     .attempt = placed.attempt.number,
                     .host = id,
                     .needs = placed.needs,
                     .started = wall_of(placed.started, now),
                     .collecting = placed.collecting});
    for (const auto& claim : host.instance.occupancy.claims())
      out.push_back({.work = claim.work, .host = id, .needs = claim.needs, .started = {}});
  }
  return out;
}

std::vector<model::CallView> calls_of(const State& state, Now now) {
  Calls out(now);
  for (std::uint32_t set = 0; set < state.sets.size(); ++set)
    add_set(out, state.sets.at(set), state.watches.of(set));
  for (const auto& question : state.questions.all())
    if (question.sent)
      out.add("set " + state.sets.at(question.name.set).name, question.what, question.sent,
              question.name.about);
  for (const auto& [id, host] : state.hosts.all()) add_host(out, host);
  return std::move(out.all);
}

}  // namespace

model::DumpParts Queries::dump_parts(Now now) const {
  return {.targets = targets_of(policy(), bounds()),
          .work = work_of(state_),
          .placed = placed_of(state_.hosts, now),
          .calls = calls_of(state_, now),
          .timers = timers_of(state_, now)};
}

}  // namespace hostler::dispatch
