#include "core/simulation/hosts.h"

#include <algorithm>
#include <string>
#include <utility>
#include <variant>

namespace hostler::simulation {
namespace {

constexpr Duration kMessage = 5ms;    ///< From one end of a connection to the other.
constexpr Duration kConnect = 300ms;  ///< TCP, SSH and the proof of the host key.
constexpr Duration kTryAgain = 1s;    ///< Between two tries to connect.
constexpr Duration kKeepAlive = 5s;   ///< Until a link notices that its host has gone.

/// The cards that the menu says, all of them healthy. Where it says no kinds, hosts tell nothing.
model::CardReport cards_of(const Machine& machine) {
  model::CardReport out;
  for (const model::GpuGroup& group : machine.request.type.gpu_groups)
    for (std::int32_t n = 0; n < group.count; ++n) {
      model::Card& card = out.cards.emplace_back();
      card.index = static_cast<std::int32_t>(out.cards.size()) - 1;
      card.uuid = "GPU-" + machine.id + "-" + std::to_string(card.index);
      card.kind = group.kind.empty() ? "gpu" : group.kind;
      card.memory = group.memory;
    }
  if (!out.cards.empty()) out.source = "command";
  std::ranges::sort(out.cards, {}, &model::Card::uuid);
  return out;
}

}  // namespace

void Hosts::take(const model::HostCommand& command) {
  std::visit([&](const auto& body) { on(body); }, command);
}

Hosts::LinkPtr Hosts::find(model::InstanceId id) const {
  const auto found = links_.find(id);
  return found == links_.end() ? nullptr : found->second;
}

Machine* Hosts::machine_of(model::InstanceId id) const {
  const LinkPtr link = find(id);
  if (!link || !link->up) return nullptr;
  Machine* machine = find_(link->target.address);
  return machine != nullptr && machine->boot_id() == link->boot_id ? machine : nullptr;
}

void Hosts::say(const LinkPtr& link, model::HostEventBody body) {
  time_.after(kMessage, [this, link, body = std::move(body)] {
    if (find(link->target.instance) == link) post_({link->target.instance, body});
  });
}

void Hosts::on(const model::ConnectHost& command) {
  LinkPtr& link = links_[command.target.instance];
  const bool same = link && link->target.address == command.target.address;
  if (!same) link = std::make_shared<Link>();
  link->target = command.target;
  if (!same) try_connect(link);
}

void Hosts::try_connect(const LinkPtr& link) {
  Machine* machine = find_(link->target.address);
  const bool answers = machine != nullptr && machine->comes_up && time_.now() >= machine->ready_at;
  time_.after(answers ? kConnect : kTryAgain, [this, link, answers] {
    if (find(link->target.instance) != link || link->up) return;
    Machine* there = answers ? find_(link->target.address) : nullptr;
    if (there == nullptr) return try_connect(link);
    come_up(link, *there);
  });
}

void Hosts::come_up(const LinkPtr& link, Machine& machine) {
  link->up = true;
  link->connection = ++connections_;
  link->boot_id = machine.boot_id();
  say(link,
      model::HostVerified{model::VerifyMethod::kDelivered, machine.request.ssh_host_key_public});
  model::HostReady ready;
  ready.boot_id = link->boot_id;
  ready.connection = link->connection;
  ready.cards = cards_of(machine);
  for (const auto& [attempt, run] : machine.runs)
    ready.attempts.push_back(
        {attempt, run.running ? model::AttemptPhase::kRunning : model::AttemptPhase::kEnded,
         run.cards});
  say(link, std::move(ready));
}

void Hosts::lost(model::InstanceId instance) {
  const LinkPtr link = find(instance);
  if (!link || !link->up) return;
  time_.after(kKeepAlive, [this, link, connection = link->connection] {
    const auto id = link->target.instance;
    if (find(id) != link || link->connection != connection || machine_of(id) != nullptr) return;
    link->up = false;
    say(link, model::HostLost{"the machine does not answer"});
    try_connect(link);
  });
}

void Hosts::on(const model::StartAttempt& command) {
  const LinkPtr link = find(command.instance);
  if (!link) return;
  Machine* machine = machine_of(command.instance);
  if (machine == nullptr || link->connection != command.connection)
    return say(link, model::AttemptRefused{command.attempt, "the connection has ended", false});
  const Fate fate = look_(command.attempt.work);
  machine->runs[command.attempt] = {.cards = command.cards};
  say(link, model::AttemptStarted{command.attempt, Wall{}});
  model::AttemptEnd end;
  end.exit_code = fate.fails ? 1 : 0;
  end.output_is_inline = true;
  time_.after(kMessage + fate.runs,
              [this, instance = command.instance, boot = link->boot_id, attempt = command.attempt,
               end] { finish(instance, boot, attempt, end); });
}

void Hosts::finish(model::InstanceId instance, const std::string& boot_id, model::AttemptId attempt,
                   const model::AttemptEnd& end) {
  Machine* machine = machine_of(instance);
  if (machine == nullptr || machine->boot_id() != boot_id) return;
  const auto run = machine->runs.find(attempt);
  if (run == machine->runs.end() || !run->second.running) return;
  run->second.running = false;
  say(find(instance), model::AttemptExited{attempt, end});
}

void Hosts::on(const model::KillAttempt& command) {
  const LinkPtr link = find(command.instance);
  if (!link || !link->up) return;
  model::AttemptEnd end;
  end.reason = model::EndReason::kSignal;
  end.signal = 15;
  end.output_is_inline = true;
  time_.after(kMessage, [this, instance = command.instance, boot = link->boot_id,
                         attempt = command.attempt, end] { finish(instance, boot, attempt, end); });
}

void Hosts::on(const model::AckAttempt& command) {
  if (Machine* machine = machine_of(command.instance)) machine->runs.erase(command.attempt);
}

void Hosts::on(const model::RunCommand& command) {
  const LinkPtr link = find(command.instance);
  if (!link) return;
  model::CommandEnded ended;
  ended.number = command.number;
  ended.status = 0;
  say(link, std::move(ended));
}

}  // namespace hostler::simulation
