#include "core/dispatch/state/host_commands.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "core/base/text.h"

namespace hostler::dispatch {
namespace {

constexpr std::ptrdiff_t kOnOneHostMax = 4;
/// For the commit of its start and the way there and back: what ends by that was not begun later.
constexpr Duration kAnswerTime = model::kProposalPatience + std::chrono::seconds(10);
constexpr std::size_t kPrintedMax = 400;

constexpr const char* kGood = "status 0";

std::string describe(const model::CommandEnded& end) {
  if (!end.error.empty())
    return (end.outcome_unknown ? "its end is not known: " : "it was not started: ") +
           printable(end.error, kPrintedMax);
  std::string out = !end.signal.empty() ? "signal " + printable(end.signal, 40)
                    : end.status        ? "status " + std::to_string(*end.status)
                                        : "no status";
  if (out == kGood) return out;
  const std::string& printed = end.errors.empty() ? end.output : end.errors;
  return out + (printed.empty() ? ", it printed nothing" : ": " + printable(printed, kPrintedMax));
}

}  // namespace

void HostCommands::start(model::InstanceId on, const model::CommandProposed& proposal, Now now) {
  (void)run(on, proposal.command, proposal.number, now);
}

bool HostCommands::clean(model::InstanceId on, model::WorkId lease, const model::HostExec& command,
                         Now now) {
  const auto number = run(on, command, 0, now);
  if (number) running_[*number].lease = lease;
  return number.has_value();
}

std::optional<std::uint64_t> HostCommands::run(model::InstanceId on, const model::HostExec& command,
                                               std::uint64_t proposal, Now now) {
  const auto there =
      std::ranges::count_if(running_, [&](const auto& entry) { return entry.second.on == on; });
  if (there >= kOnOneHostMax) return std::nullopt;
  const std::uint64_t number = ++last_;
  running_[number] = {on, printable(command.purpose), now.mono + command.limit + kAnswerTime};
  recorder_.record("host", on.text(), model::Event::kCommandStarted, std::to_string(number),
                   running_[number].purpose, now);
  recorder_.command(model::RunCommand{on, number, command, proposal});
  return number;
}

void HostCommands::ended(model::InstanceId on, const model::CommandEnded& reported, Now now) {
  const auto found = running_.find(reported.number);
  if (found != running_.end() && found->second.on == on) end(found, describe(reported), now);
}

void HostCommands::lost(model::InstanceId on, const std::string& why, Now now) {
  for (auto at = running_.begin(); at != running_.end();)
    at = at->second.on == on ? end(at, "its end is not known: " + why, now) : std::next(at);
}

std::vector<HostCommands::Awaited> HostCommands::awaited() const {
  std::vector<Awaited> out;
  for (const auto& [number, command] : running_)
    out.push_back({command.on, command.purpose, command.deadline});
  return out;
}

void HostCommands::end_due(Now now) {
  for (auto at = running_.begin(); at != running_.end();)
    at = at->second.deadline <= now.mono
             ? end(at, "its end is not known: the host's link gave no answer", now)
             : std::next(at);
}

Mono HostCommands::next_deadline() const {
  Mono next = Mono::max();
  for (const auto& [number, command] : running_) next = std::min(next, command.deadline);
  return next;
}

HostCommands::Map::iterator HostCommands::end(Map::iterator command, const std::string& how,
                                              Now now) {
  const auto& [number, which] = *command;
  recorder_.record("host", which.on.text(), model::Event::kCommandEnded, std::to_string(number),
                   which.purpose + ": " + how, now);
  if (which.lease) cleaned_.push_back({*which.lease, how == kGood ? "" : how});
  return running_.erase(command);
}

}  // namespace hostler::dispatch
