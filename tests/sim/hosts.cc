#include "tests/sim/hosts.h"

#include <algorithm>
#include <utility>

namespace hostler::sim {

using model::AttemptId;

void Hosts::restart(Post post) {
  ++generation_;
  links_.clear();
  connections_.clear();
  post_ = std::move(post);
}

void Hosts::take(const model::HostCommand& command) {
  std::visit([&](const auto& body) { on(body); }, command);
}

void Hosts::put_back() {
  for (const auto& [attempt, start] : starts_) {
    const auto run = start.machine->runs.find(attempt);
    if (start.machine->exists() && run != start.machine->runs.end() && run->second.running)
      spared_.insert(attempt);
  }
}

Hosts::LinkPtr Hosts::find(model::InstanceId id) {
  const auto found = links_.find(id);
  return found == links_.end() ? nullptr : found->second;
}

void Hosts::say(const LinkPtr& link, model::HostEventBody body) {
  link->last_said = std::max(link->last_said, time_.now() + chance_.between(0s, 5ms));
  time_.at(link->last_said, [this, link, generation = generation_, body = std::move(body)] {
    if (generation != generation_ || find(link->target.instance) != link) return;
    told_of_cards(*link, body);
    post_({link->target.instance, body});
  });
}

void Hosts::on(const model::ConnectHost& command) {
  auto& link = links_[command.target.instance];
  if (link && link->target.address == command.target.address && link->up) {
    link->target = command.target;
    return;
  }
  if (link && link->up) drop(link);
  if (!link) link = std::make_shared<Link>();
  link->target = command.target;
  link->was_proved = command.target.identity.verified_by.has_value();
  try_connect(link, ++link->tries);
}

void Hosts::on(const model::DisconnectHost& command) {
  if (const auto held = held_.find(command.instance); held != held_.end())
    held->second.left = time_.now();
  const auto link = find(command.instance);
  if (!link) return;
  link->up = false;
  ++link->tries;
  links_.erase(command.instance);
}

void Hosts::try_connect(const LinkPtr& link, std::uint64_t tries) {
  time_.after(chance_.between(50ms, 2s), [this, link, tries, generation = generation_] {
    if (generation != generation_ || link->tries != tries || link->up ||
        find(link->target.instance) != link)
      return;
    Machine* machine = cloud_.at(link->target.address);
    const auto again = [&](const char* step, const char* text) {
      if (!link->was_proved || !std::exchange(link->told_of_failure, true))
        say(link, model::HostNotYet{step, text});
      try_connect(link, tries);
    };
    if (machine == nullptr || is_cut_off(*machine)) return again("connect", "no route to host");
    if (machine->never_boots || time_.now() < machine->ready_at)
      return again("connect", "connection refused");
    if (chance_.fault(0.1)) return again("key_exchange", "connection reset");
    const auto& identity = link->target.identity;
    const bool known =
        machine->host_key == identity.public_key || machine->host_key == identity.next_public_key ||
        (identity.public_key.empty() && machine->host_key == identity.delivered_public_key);
    // Some drivers know the keys of their machines, also of one that the journal has lost.
    const bool by_driver = !link->was_proved && identity.delivered_public_key.empty() &&
                           disk_.was_put_back() && machine->id.back() % 2 == 0;
    if (by_driver && machine->instance != link->target.instance)
      cloud_.hand_over(*machine, link->target.instance);
    if (!known && link->was_proved) {
      say(link, model::HostKeyAlarm{machine->host_key, "another key"});
      return try_connect(link, tries);
    }
    if (!known && !by_driver) return again("verify", "key not proved");
    if (machine->instance != link->target.instance) complain_("a link proved another's machine");
    come_up(link, *machine);
  });
}

void Hosts::come_up(const LinkPtr& link, Machine& machine) {
  link->up = link->was_proved = true;
  cloud_.came_up(machine);
  link->resumed = false;
  link->own.clear();
  link->notices.clear();
  link->held.clear();
  link->is_doubted = false;
  link->connection = ++connections_[link->target.instance];
  machine.connection = link->connection + generation_ * 1'000'000;
  keep_alive(link, link->connection);
  auto& identity = link->target.identity;
  identity.public_key = machine.host_key;
  say(link, model::HostVerified{model::VerifyMethod::kDelivered, machine.host_key});
  if (!link->target.with_agent) return say(link, model::HostBooted{machine.boot_id()});
  propose_command(link);
  model::HostReady ready;
  ready.boot_id = machine.boot_id();
  ready.connection = link->connection;
  ready.last_sequence = machine.last_sequence;
  if (short_disks_ && machine.id.back() % 2 == 0) ready.scratch = kShortDisk;
  if (short_ram_) ready.ram = ram_of(machine);
  if (short_ram_ && *ready.ram < machine.request.type.resources.ram / 2) cloud_.is_unfit();
  if (cards_.is_day()) ready.cards = cards_.read(machine);
  for (const auto& [attempt, run] : machine.runs) {
    ready.attempts.push_back({attempt,
                              run.running      ? model::AttemptPhase::kRunning
                              : run.lost_track ? model::AttemptPhase::kUnknownEnd
                                               : model::AttemptPhase::kEnded,
                              run.cards});
    cards_.reported(run);
  }
  if (lies(machine)) {
    if (lies_.chance(0.2)) ready.last_sequence = lies_.sequence();
    if (short_disks_ && lies_.chance(0.5)) ready.scratch = lies_.scratch();
    if (short_ram_ && lies_.chance(0.5)) ready.ram = lies_.chance(0.3) ? 1 : lies_.scratch();
    if (const auto foreign = foreign_to(machine))
      ready.attempts.push_back(
          {*foreign, static_cast<model::AttemptPhase>(lies_.below(3)), cards_.claim(machine)});
    tell_about_others(machine, machine.connection);
  }
  model::HostEventBody report = std::move(ready);
  bound_report(link, report);
  if (const auto told = std::get<model::HostReady>(report).scratch) machine.scratch = *told;
  if (const auto told = std::get<model::HostReady>(report).ram) {
    machine.ram = *told;
    ram_reports_.emplace(machine.request.type.name, *told);
  }
  say(link, std::move(report));
  std::vector<AttemptId> ended;
  for (const auto& [attempt, run] : machine.runs)
    if (!run.running && !run.lost_track) ended.push_back(attempt);
  for (const AttemptId attempt : ended) tell_end(machine, attempt);
  if (chance_.chance(0.3) && identity.next_public_key.empty())
    say(link, model::RotationProposed{
                  "key-" + machine.id + "-" + std::to_string(machine.connection), "secret"});
  else if (lends_logins_)
    say(link, model::RotationEnded{false, false, "sshd -t failed"});
}

void Hosts::drop(const LinkPtr& link) {
  if (!link->up) return;
  link->up = false;
  link->proposal = 0;
  say(link, model::HostLost{"connection reset"});
  try_connect(link, ++link->tries);
}

void Hosts::keep_alive(const LinkPtr& link, std::uint64_t connection) {
  time_.after(day_.keep_alive, [this, link, connection, generation = generation_] {
    if (generation != generation_ || !link->up || link->connection != connection) return;
    const Machine* machine = cloud_.at(link->target.address);
    if (machine == nullptr || is_cut_off(*machine) ||
        machine->connection != connection + generation * 1'000'000)
      drop(link);
    else
      keep_alive(link, connection);
  });
}

void Hosts::partition(Duration time) {
  partition_until_ = time_.now() + time;
  all_cut_off_ = chance_.chance(0.5);
  held_.clear();
  std::size_t connected = 0;
  for (const auto& [id, link] : links_) {
    const Machine* machine = cloud_.at(link->target.address);
    if (!link->up || machine == nullptr) continue;
    ++connected;
    if (is_cut_off(*machine)) held_[id] = {link->target.address, {}};
  }
  if (held_.size() < 3 || 2 * held_.size() < connected) held_.clear();
}

bool Hosts::is_held(model::InstanceId id) const {
  const auto held = held_.find(id);
  if (time_.now() >= partition_until_ || !chance_.faults() || held == held_.end() ||
      cloud_.at(held->second.address) == nullptr)
    return false;
  // One that ended or was switched off earlier does not count any more.
  const auto counts = std::ranges::count_if(held_, [&](const auto& one) {
    return !one.second.left || time_.now() - *one.second.left < 1s;
  });
  return counts >= 3;
}

bool Hosts::is_cut_off(const Machine& machine) const {
  return time_.now() < partition_until_ && chance_.faults() &&
         (all_cut_off_ || machine.id.back() % 2 == 0);
}

void Hosts::misfortune() {
  std::vector<LinkPtr> up;
  for (const auto& [id, link] : links_)
    if (link->up) up.push_back(link);
  if (!up.empty()) drop(up[chance_.below(up.size())]);
}

void Hosts::misfortune_of_cards() {
  std::vector<Machine*> all;
  for (const auto& [id, link] : links_)
    if (Machine* machine = cloud_.at(link->target.address)) all.push_back(machine);
  if (all.empty() || !chance_.faults()) return;
  Machine& machine = *all[cards_.choose(all.size())];
  cards_.misfortune(machine);
  read_cards(machine);
}

void Hosts::read_cards(Machine& machine) {
  auto report = cards_.read(machine);
  const bool failed = !report.problem.empty();
  agent_says(machine, model::HostCards{std::move(report)});
  if (failed)
    time_.after(1s, [this, &machine] {
      if (machine.exists()) read_cards(machine);
    });
}

void Hosts::told_of_cards(const Link& link, const model::HostEventBody& body) {
  const Machine* machine = cards_.is_day() ? cloud_.at(link.target.address) : nullptr;
  if (machine == nullptr) return;
  if (const auto* ready = std::get_if<model::HostReady>(&body))
    cards_.heard(*machine, ready->cards, time_.now());
  if (const auto* later = std::get_if<model::HostCards>(&body))
    cards_.heard(*machine, later->report, time_.now());
}

void Hosts::agent_says(Machine& machine, model::HostEventBody body) {
  const auto connection = machine.connection;
  const auto link = find(machine.instance);
  if (!link || !link->up || machine.connection != link->connection + generation_ * 1'000'000)
    return;
  time_.at(arrival(*link, machine),
           [this, link, connection, &machine, generation = generation_, body = std::move(body)] {
             if (generation == generation_ && link->up && machine.connection == connection &&
                 machine.exists())
               hear(link, body);
           });
}

/// A connection loses no byte before it ends: what is sent in a partition arrives after it, unless
/// the connection ends first.
Mono Hosts::arrival(Link& link, const Machine& machine) {
  const Mono departure = is_cut_off(machine) ? partition_until_ : time_.now();
  return link.last_sent = std::max(link.last_sent, departure + chance_.between(1ms, 20ms));
}

void Hosts::hear(const LinkPtr& link, model::HostEventBody body) {
  if (!link->resumed) return link->held.push_back(std::move(body)), void();
  if (!bound_report(link, body)) return;
  const auto* collected = std::get_if<model::AttemptCollected>(&body);
  // Output of an attempt that is not this host's is not asked for.
  if (collected == nullptr || link->own.contains(collected->attempt)) say(link, std::move(body));
}

void Hosts::on(const model::ResumeAttempts& command) {
  const auto link = find(command.instance);
  if (!link || !link->up || link->connection != command.connection) return;
  if (link->resumed) complain_(command.instance.text() + " is resumed twice");
  for (const AttemptId attempt : command.attempts) {
    const auto* intent = disk_.attempt(attempt);
    if (intent == nullptr || intent->instance != command.instance)
      complain_(attempt.text() + " is resumed on another's host");
    link->own.insert(attempt);
  }
  link->resumed = true;
  for (auto& body : std::exchange(link->held, {})) hear(link, std::move(body));
}

void Hosts::to_agent(const LinkPtr& link, std::function<void(Machine&)> act) {
  Machine* machine = cloud_.at(link->target.address);
  if (machine == nullptr || !link->up) return;
  const auto connection = machine->connection;
  // What was written before the daemon died still arrives, unless a newer HELLO came before it.
  time_.at(arrival(*link, *machine), [machine, connection, act = std::move(act)] {
    if (machine->connection == connection && machine->state == model::CloudState::kRunning)
      act(*machine);
  });
}

void Hosts::on(const model::ActivateRotation& command) {
  const auto link = find(command.instance);
  if (!link) return;
  const auto* known = disk_.instance(command.instance);
  if (known == nullptr ||
      known->record.identity.next_public_key != command.identity.next_public_key)
    complain_("rotation of " + command.instance.text() + " without a durable next key");
  link->target.identity = command.identity;
  to_agent(link, [this, command, link](Machine& machine) {
    if (chance_.fault(0.2))
      return agent_says(machine, model::RotationEnded{false, false, "sshd -t failed"});
    machine.host_key = command.identity.next_public_key;
    agent_says(machine, model::RotationEnded{true, false, ""});
  });
}

}  // namespace hostler::sim
