#include "tests/sim/accounts.h"

#include <string>
#include <variant>

namespace hostler::sim {
namespace {

model::HostExec make(const std::string& what, model::WorkId lease) {
  model::HostExec out;
  out.purpose = what + " the account of " + lease.text();
  out.arguments = {"account", what, std::to_string(lease.value)};
  return out;
}

}  // namespace

dispatch::AccountCommands Accounts::commands() {
  return {
      .open = [](const auto& account, const auto&) { return make("open", account.lease); },
      .close = [](const auto& account) { return make("close", account.lease); },
      .notify = [](const auto& account, const auto&) { return make("tell", account.lease); },
      .find =
          [] {
            return make("find", {0, model::WorkKind::kLease});
          },
  };
}

bool Accounts::is_one(const model::HostExec& command) {
  return command.arguments.front() == "account";
}

void Accounts::ran(const model::RunCommand& command) {
  const auto& words = command.command.arguments;
  const model::WorkId lease{std::stoull(words[2]), model::WorkKind::kLease};
  if (words[1] == "open") {
    open_.insert({command.instance, lease});
    had_[command.instance] = lease;
  } else if (words[1] == "close") {
    open_.erase({command.instance, lease});
    const auto row = disk_.jobs().find(lease);
    if (row != disk_.jobs().end() && row->second.record.state == model::WorkState::kRunning &&
        row->second.record.instance == command.instance)
      complain_("the account of " + lease.text() + " is closed, and the lease is granted");
  }
}

void Accounts::committed(const dispatch::Outbox& outbox) {
  for (const auto& change : outbox.changes)
    if (const auto* work = std::get_if<model::WorkChanged>(&change);
        work != nullptr && work->record.id.kind == model::WorkKind::kLease)
      check_lease(work->record);
  for (const auto& effect : outbox.effects) {
    const auto* command = std::get_if<model::HostCommand>(&effect);
    const auto* start = command == nullptr ? nullptr : std::get_if<model::StartAttempt>(command);
    if (start != nullptr && had_.contains(start->instance))
      complain_(start->attempt.text() + " is placed on " + start->instance.text() +
                ", on which a holder could log in");
  }
}

void Accounts::check_lease(const model::WorkRecord& record) {
  if (record.state == model::WorkState::kStarting) {
    const auto before = had_.find(record.instance);
    if (before != had_.end() && before->second != record.id)
      complain_(record.id.text() + " gets " + record.instance.text() +
                ", which had the account of " + before->second.text());
  }
  if (record.state != model::WorkState::kRunning ||
      disk_.terms(record.id).login == model::Login::kNone)
    return;
  if (granted_.insert(record.id).second && !open_.contains({record.instance, record.id}))
    complain_(record.id.text() + " is granted on " + record.instance.text() +
              ", which does not have its account");
}

}  // namespace hostler::sim
