#include "tests/sim/host_lies.h"

#include <utility>
#include <vector>

#include "core/agent/bounds.h"
#include "tests/sim/hosts.h"

namespace hostler::sim {
namespace {

/// Bounds the numbers of one message; returns it too.
template <class Message>
std::pair<Message, Bounded> bounded(Message message) {
  agent::FromAgent any = std::move(message);
  agent::Bounded out = agent::bound(any);
  return {std::get<Message>(std::move(any)), {std::move(out.problem), out.is_void}};
}

Bounded bound_ready(model::HostReady& ready) {
  agent::Hello hello;
  hello.last_sequence = ready.last_sequence;
  auto [greeting, out] = bounded(std::move(hello));
  ready.last_sequence = greeting.last_sequence;
  if (ready.scratch) {
    auto [scratch, problem] = bounded(agent::Scratch{*ready.scratch});
    if (problem.is_void) ready.scratch.reset();
    if (out.problem.empty()) out.problem = problem.problem;
  }
  if (ready.ram) {
    auto [ram, problem] = bounded(agent::Ram{*ready.ram});
    if (problem.is_void) ready.ram.reset();
    if (out.problem.empty()) out.problem = problem.problem;
  }
  std::erase_if(ready.attempts, [&out = out](const model::AttemptReport& one) {
    auto [listing, problem] = bounded(agent::Listing{{{one.attempt, agent::Phase::kEnded}}});
    if (out.problem.empty()) out.problem = problem.problem;
    return listing.known.empty();
  });
  return out;
}

}  // namespace

Wall HostLies::time() {
  switch (random_.below(4)) {
    case 0:
      return Wall{-9'223'372'000'000'000'000};
    case 1:
      return Wall{1};
    case 2:
      return Wall{agent::kTimeLast - static_cast<std::int64_t>(random_.below(1'000'000'000))};
    default:
      return Wall{9'000'000'000'000'000'000};
  }
}

void HostLies::distort(model::AttemptEnd& end) {
  switch (random_.below(6)) {
    case 0:
      end.exit_code = -2147483521;
      break;
    case 1:
      end.exit_code = 256;
      break;
    case 2:
      end.reason = model::EndReason::kSignal;
      end.signal = 65;
      break;
    case 3:
      end.ram_peak = INT64_MIN;
      break;
    case 4:
      end.cpu_us = -1;
      break;
    default:
      break;  // Only the times.
  }
  end.started = time();
  end.ended = time();
}

model::HostEventBody HostLies::about(model::AttemptId foreign) {
  model::AttemptEnd end;
  switch (random_.below(4)) {
    case 0:
      return model::AttemptStarted{foreign, Wall{1}};
    case 1:
      return model::AttemptRefused{foreign, "it is full", random_.chance(0.5)};
    case 2:
      end.reason = model::EndReason::kSignal;
      end.signal = 9;
      return model::AttemptExited{foreign, end};
    default:
      return model::AttemptExited{foreign, end};
  }
}

std::uint64_t HostLies::sequence() { return random_.chance(0.5) ? UINT64_MAX : 1U << 30U; }

std::int64_t HostLies::scratch() {
  return random_.chance(0.5) ? std::int64_t{1} << 59U : random_.chance(0.5) ? -1 : INT64_MAX;
}

Bounded bound(model::HostEventBody& body) {
  if (auto* ready = std::get_if<model::HostReady>(&body)) return bound_ready(*ready);
  if (auto* started = std::get_if<model::AttemptStarted>(&body)) {
    auto [message, out] = bounded(agent::Started{started->attempt, started->started.us});
    started->started.us = message.started_us;
    return out;
  }
  if (auto* refused = std::get_if<model::AttemptRefused>(&body))
    return bounded(agent::Refused{refused->attempt, {}, refused->text}).second;
  if (auto* exited = std::get_if<model::AttemptExited>(&body)) {
    auto [message, out] = bounded(agent::Exit{exited->attempt, exited->end});
    exited->end = std::move(message.end);
    return out;
  }
  return {};
}

// ---- in the world of hosts ---------------------------------------------------------------------

void Hosts::tell_lies(Machine& machine, model::AttemptId attempt) {
  if (lies_.chance(0.5)) agent_says(machine, model::AttemptStarted{attempt, lies_.time()});
  if (lies_.chance(0.5)) {
    model::AttemptEnd other = machine.runs.at(attempt).end;
    other.exit_code = 1 - other.exit_code;
    if (lies_.chance(0.5)) lies_.distort(other);
    agent_says(machine, model::AttemptExited{attempt, other});
  }
  if (lies_.chance(0.1)) agent_says(machine, lies_.about({}));
}

/// As long as the connection lasts.
void Hosts::tell_about_others(Machine& machine, std::uint64_t connection) {
  time_.after(50ms + Duration(1s) * lies_.below(100) / 100, [this, &machine, connection] {
    if (machine.connection != connection || !machine.exists() || !lies(machine)) return;
    if (const auto foreign = foreign_to(machine)) agent_says(machine, lies_.about(*foreign));
    tell_about_others(machine, connection);
  });
}

std::optional<model::AttemptId> Hosts::foreign_to(const Machine& machine) {
  std::vector<model::AttemptId> all;
  const auto add = [&](bool starting) {
    for (const auto& [id, job] : disk_.jobs())
      if (id.kind == model::WorkKind::kJob && job.record.instance &&
          job.record.instance != machine.instance &&
          (job.record.state == model::WorkState::kStarting) == starting)
        all.push_back({id, job.record.attempt});
  };
  add(true);  // Others begin at this moment: the most can be told about them.
  if (all.empty()) add(false);
  if (all.empty()) return std::nullopt;
  return all[lies_.below(all.size())];
}

bool Hosts::bound_report(const LinkPtr& link, model::HostEventBody& body) {
  const Bounded checked = bound(body);
  if (!checked.problem.empty() && !std::exchange(link->is_doubted, true)) {
    model::HostEventBody broken = model::HostBroken{"report", "it reported " + checked.problem};
    if (link->resumed)
      say(link, std::move(broken));
    else
      link->held.push_back(std::move(broken));
  }
  return !checked.is_void;
}

}  // namespace hostler::sim
