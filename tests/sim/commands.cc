#include "tests/sim/commands.h"

#include <utility>
#include <variant>

#include "tests/sim/accounts.h"
#include "tests/sim/hosts.h"

namespace hostler::sim {
namespace {

constexpr Duration kLimit = 10s;

}  // namespace

void Commands::committed(const std::vector<model::Change>& changes) {
  for (const auto& change : changes) {
    const auto* row = std::get_if<model::LedgerRecord>(&change);
    if (row == nullptr) continue;
    const Key key{row->subject, row->reason_code};
    if (row->event == model::Event::kCommandStarted) {
      started_[key] = {time_.now(), kLimit};
      begun_.insert(key);
    }
    if (row->event != model::Event::kCommandEnded) continue;
    if (started_.erase(key) == 0)
      complain_("command " + key.second + " of " + key.first + " ends without a start, or twice");
    if (row->reason.ends_with("gave no answer") || row->reason.ends_with("connection was lost"))
      given_up_.insert(key);
  }
}

std::optional<model::CommandProposed> Commands::proposal() {
  if (!exist_ || !random_.chance(0.5)) return std::nullopt;
  model::CommandProposed out;
  out.command.purpose = "a look around";
  out.command.arguments = {"true"};
  out.command.limit = kLimit;
  return out;
}

void Commands::run(const model::RunCommand& command, bool takes_it, bool faults, const Say& say) {
  const Key key{command.instance.text(), std::to_string(command.number)};
  const std::string which = "command " + key.second + " of " + key.first;
  if (!begun_.contains(key)) complain_(which + " is sent without a durable start");
  if (!sent_.insert(key).second) complain_(which + " is sent twice");
  if (const auto known = started_.find(key); known != started_.end())
    known->second.limit = command.command.limit;
  if (takes_it && given_up_.contains(key)) complain_(which + " runs after it was given up");
  if (faults && random_.chance(0.2)) {  // no answer
    if (ran_ && takes_it && random_.chance(0.5)) (void)status_of(command);
    return;
  }
  model::CommandEnded end;
  end.number = command.number;
  if (takes_it && random_.chance(0.8))
    end.status = status_of(command);
  else
    end.error = "the host is not connected";
  for (int copies = faults && random_.chance(0.2) ? 2 : 1; copies > 0; --copies)
    time_.after(1ms * static_cast<std::int64_t>(random_.below(faults ? 60'000 : 500)),
                [say, end] { say(end); });
}

int Commands::status_of(const model::RunCommand& command) {
  if (!ran_ || !Accounts::is_one(command.command)) return static_cast<int>(random_.below(3));
  if (random_.chance(0.1)) return 1;
  ran_(command);
  return 0;
}

void Commands::check() {
  for (const auto& [key, command] : started_)
    if (time_.now() - command.at > command.limit + 1min)
      return complain_("command " + key.second + " of " + key.first + " has no end");
}

/// After HostVerified: later than what the link has said.
void Hosts::propose_command(const LinkPtr& link) {
  const auto proposal = commands_.proposal();
  if (!proposal) return;
  time_.at(link->last_said, [this, link, proposal = *proposal, generation = generation_,
                             connection = link->connection] {
    if (generation != generation_ || !link->up || link->connection != connection ||
        find(link->target.instance) != link)
      return;
    model::CommandProposed numbered = proposal;
    numbered.number = link->proposal = ++link->proposals;
    link->proposed_at = time_.now();
    post_({link->target.instance, numbered});
  });
}

bool Hosts::takes(const Link& link, const model::RunCommand& command) const {
  if (command.proposal == 0) return link.up;
  return link.proposal == command.proposal &&
         time_.now() - link.proposed_at < model::kProposalPatience;
}

void Hosts::on(const model::RunCommand& command) {
  const auto link = find(command.instance);
  if (!link) return;
  commands_.run(command, takes(*link, command), chance_.faults(),
                [this, link, generation = generation_](model::HostEventBody body) {
                  if (generation == generation_ && find(link->target.instance) == link)
                    post_({link->target.instance, std::move(body)});
                });
}

}  // namespace hostler::sim
