#include <algorithm>
#include <utility>

#include "tests/sim/hosts.h"

/// What agents do with attempts: start, kill, interrupt and forget them, and what is promised of
/// starts.
namespace hostler::sim {

using model::AttemptId;

void Hosts::on(const model::StartAttempt& command) {
  const auto link = find(command.instance);
  if (!link) return;
  Machine* machine = cloud_.at(link->target.address);
  if (!link->up || link->connection != command.connection || machine == nullptr)
    return say(link, model::AttemptRefused{command.attempt, "not sent on this connection"});
  // Not when it arrives: another copy of the disk may have been put back meanwhile.
  const auto* intent = disk_.attempt(command.attempt);
  if (intent == nullptr || intent->instance != command.instance)
    complain_(command.attempt.text() + " starts without a durable intent");
  const auto job = disk_.jobs().find(command.attempt.work);
  cards_.check_leaving(*machine, command, intent,
                       job == disk_.jobs().end() ? nullptr : &job->second, time_.now());
  if (!link->resumed) complain_(command.attempt.text() + " starts before its host is resumed");
  link->own.insert(command.attempt);
  to_agent(link, [this, command](Machine& there) { start(there, command); });
}

void Hosts::start(Machine& machine, const model::StartAttempt& command) {
  const AttemptId attempt = command.attempt;
  const auto refuse = [&](const char* text) {
    agent_says(machine, model::AttemptRefused{attempt, text});
  };
  if (command.boot_id != machine.boot_id()) return refuse("another boot");
  if (command.sequence <= machine.last_sequence) return refuse("used sequence");
  if (chance_.fault(0.03)) return refuse("busy");
  machine.last_sequence = command.sequence;

  const auto job = disk_.jobs().find(attempt.work);
  Run run;
  run.sequence = command.sequence;
  run.began = time_.now();
  if (job != disk_.jobs().end()) run.needs = job->second.shape.needs;
  run.cards = command.cards;
  cards_.check_start(machine, command);
  check_start(machine, attempt, run);
  machine.runs[attempt] = run;
  agent_says(machine, model::AttemptStarted{attempt, lies(machine) ? lies_.time() : Wall{1}});

  if (std::exchange(machine.loses_power_at_start, false))
    time_.after(chance_.between(0s, 90ms), [this, &machine] {
      if (machine.state == model::CloudState::kRunning) cloud_.lose_power(machine);
    });

  Random fate(attempt.work.value * 1000 + attempt.number);
  const auto longest = static_cast<std::uint64_t>(day_.longest_job.count());
  auto lasts = Duration(static_cast<Duration::rep>(fate.below(longest)));
  model::AttemptEnd end;
  end.exit_code = fate.chance(0.2) ? 1 : 0;
  end.output_is_inline = fate.chance(0.6);
  end.has_output_files = fate.chance(0.2);
  const bool quick = fate.chance(0.3) && day_.every_job == 0s;
  if (day_.every_job > 0s) lasts = day_.every_job;
  time_.after(quick ? lasts / 1000 : lasts, [this, &machine, attempt, end, boots = machine.boots] {
    if (machine.boots == boots) finish(machine, attempt, end);
  });
}

void Hosts::check_start(const Machine& machine, AttemptId attempt, const Run& run) {
  auto& start = starts_[attempt];
  if (++start.times > 1) complain_(attempt.text() + " starts twice");
  start.machine = &machine;
  check_uses(machine);
  for (auto at = starts_.lower_bound({attempt.work, 0});
       at != starts_.end() && at->first.work == attempt.work; ++at) {
    const auto& there = *at->second.machine;
    const auto other = there.runs.find(at->first);
    if (other != there.runs.end() && other->second.running && there.exists())
      complain_(attempt.text() + " starts while " + at->first.text() + " runs");
  }
  model::Resources sum = run.needs;
  for (const auto& [id, other] : machine.runs)
    if (other.running) sum += other.needs;
  auto room = machine.request.type.resources;
  room.scratch = std::min(room.scratch, machine.scratch);
  if (short_ram_) check_ram(machine, room.ram);
  if (short_ram_) room.ram = model::ram_for_jobs(std::min(room.ram, machine.ram), kReserveOfDay);
  if (!sum.fits_in(room)) complain_(machine.instance.text() + " runs more than it has room for");
}

/// However often the daemon was started since, and whatever it was started from.
void Hosts::check_uses(const Machine& machine) {
  if (few_uses_ && ++uses_[machine.id] > kUsesOfDay)
    complain_(machine.instance.text() + " is used more often than its pool allows");
}

void Hosts::check_ram(const Machine& machine, std::int64_t menu) const {
  const std::string name = machine.instance.text();
  if (machine.ram < menu / 2) complain_(name + " has less than half of its RAM, and gets work");
  const auto runs =
      std::ranges::count_if(machine.runs, [](const auto& one) { return one.second.running; });
  if (machine.request.type.name == "small" && runs >= kJobsOnSmall)
    complain_(name + " runs more jobs than its type may");
}

int Hosts::starts(model::WorkId job) const {
  int sum = 0;
  for (auto at = starts_.lower_bound({job, 0}); at != starts_.end() && at->first.work == job; ++at)
    sum += at->second.times;
  return sum;
}

void Hosts::finish(Machine& machine, AttemptId attempt, model::AttemptEnd end) {
  const auto found = machine.runs.find(attempt);
  if (found == machine.runs.end() || !found->second.running || !machine.exists()) return;
  found->second.running = false;
  found->second.end = std::move(end);
  tell_end(machine, attempt);
}

void Hosts::on(const model::KillAttempt& command) {
  const auto link = find(command.instance);
  if (!link) return;
  const auto job = disk_.jobs().find(command.attempt.work);
  const bool wanted = job != disk_.jobs().end() &&
                      (job->second.record.cancel_requested || job->second.record.interrupted);
  if (spared_.contains(command.attempt) && !wanted)
    complain_(command.attempt.text() + " ran when the disk was put back, and is ended");
  if (job != disk_.jobs().end() && !disk_.was_put_back()) {
    const auto& row = job->second.record;
    const bool is_present = row.attempt == command.attempt.number &&
                            row.instance == command.instance &&
                            row.state == model::WorkState::kRunning;
    if (is_present && !row.cancel_requested && !row.interrupted)
      complain_(command.attempt.text() + " is killed, and that it is to end is not durable");
  }
  to_agent(link, [this, command](Machine& machine) {
    model::AttemptEnd end;
    end.reason = model::EndReason::kSignal;
    end.signal = 15;
    time_.after(chance_.between(1ms, 1s),
                [this, &machine, attempt = command.attempt, end, boots = machine.boots] {
                  if (machine.boots == boots) finish(machine, attempt, end);
                });
  });
}

void Hosts::on(const model::InterruptAttempt& command) {
  const auto link = find(command.instance);
  if (!link || !link->up) return;
  const auto* intent = disk_.attempt(command.attempt);
  if (intent == nullptr || intent->instance != command.instance)
    complain_(command.attempt.text() + " is told of an interruption, and is not there");
  const std::pair now{command.noticed, command.at};
  const auto [told, fresh] = link->notices.try_emplace(command.attempt, now);
  if (!fresh && told->second == now)
    complain_(command.attempt.text() + " is told twice of one interruption");
  told->second = now;
}

void Hosts::on(const model::AckAttempt& command) {
  const auto link = find(command.instance);
  if (!link) return;
  to_agent(link, [this, command](Machine& machine) {
    const auto found = machine.runs.find(command.attempt);
    if (found == machine.runs.end()) return;
    if (found->second.running) complain_(command.attempt.text() + " was acknowledged and runs");
    machine.runs.erase(found);
  });
}

}  // namespace hostler::sim
