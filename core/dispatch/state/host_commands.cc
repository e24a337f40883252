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
  std::string out = !end.signal.empty() ? "signal " + printable(end.signal, 40)
                    : end.status        ? "status " + std::to_string(*end.status)
                                        : "no status";
  if (out == kGood) return out;
  std::string_view printed = end.errors.empty() ? end.output : end.errors;
  printed = printed.substr(0, printed.find_last_not_of("\r\n") + 1);
  return out + (printed.empty() ? ", it printed nothing" : ": " + printable(printed, kPrintedMax));
}

}  // namespace

HostCommands::End HostCommands::not_known(const std::string& why) {
  return {CommandResult::kUnknown, "its end is not known: " + why};
}

HostCommands::End HostCommands::end_of(const model::CommandEnded& reported) {
  const std::string error = printable(reported.error, kPrintedMax);
  if (!error.empty() && reported.outcome_unknown) return not_known(error);
  if (!error.empty()) return {CommandResult::kUnknown, "it was not started: " + error};
  const std::string how = describe(reported);
  return {how == kGood ? CommandResult::kGood : CommandResult::kFailed, how, reported.output};
}

void HostCommands::start(model::InstanceId on, const model::CommandProposed& proposal, Now now) {
  const auto there =
      std::ranges::count_if(running_, [&](const auto& entry) { return entry.second.on == on; });
  if (there < kOnOneHostMax) run(proposal.command, proposal.number, {.on = on}, now);
}

void HostCommands::run(model::InstanceId on, model::WorkId lease, LeaseStep step,
                       const model::HostExec& command, Now now) {
  run(command, 0, {.on = on, .lease = lease, .step = step}, now);
}

void HostCommands::run(const model::HostExec& command, std::uint64_t proposal, Running running,
                       Now now) {
  const std::uint64_t number = ++last_;
  running.purpose = printable(command.purpose);
  running.deadline = now.mono + command.limit + kAnswerTime;
  recorder_.record("host", running.on.text(), model::Event::kCommandStarted, std::to_string(number),
                   running.purpose, now);
  recorder_.command(model::RunCommand{running.on, number, command, proposal});
  running_[number] = std::move(running);
}

bool HostCommands::runs(model::InstanceId on, model::WorkId lease, LeaseStep step) const {
  return std::ranges::any_of(running_, [&](const auto& entry) {
    const Running& one = entry.second;
    return one.on == on && one.lease == lease && one.step == step;
  });
}

void HostCommands::ended(model::InstanceId on, const model::CommandEnded& reported, Now now) {
  const auto found = running_.find(reported.number);
  if (found != running_.end() && found->second.on == on) end(found, end_of(reported), now);
}

void HostCommands::lost(model::InstanceId on, const std::string& why, Now now) {
  for (auto at = running_.begin(); at != running_.end();)
    at = at->second.on == on ? end(at, not_known(why), now) : std::next(at);
}

std::vector<HostCommands::Awaited> HostCommands::awaited() const {
  std::vector<Awaited> out;
  for (const auto& [number, command] : running_)
    out.push_back({command.on, command.purpose, command.deadline});
  return out;
}

void HostCommands::end_due(Now now) {
  for (auto at = running_.begin(); at != running_.end();)
    at = at->second.deadline <= now.mono ? end(at, not_known("the host's link gave no answer"), now)
                                         : std::next(at);
}

Mono HostCommands::next_deadline() const {
  Mono next = Mono::max();
  for (const auto& [number, command] : running_) next = std::min(next, command.deadline);
  return next;
}

HostCommands::Map::iterator HostCommands::end(Map::iterator command, End how, Now now) {
  const auto& [number, which] = *command;
  recorder_.record("host", which.on.text(), model::Event::kCommandEnded, std::to_string(number),
                   which.purpose + ": " + how.how, now);
  if (which.lease || which.step == LeaseStep::kFind)
    ended_.push_back(
        {which.on, which.lease, which.step, how.result, std::move(how.how), std::move(how.output)});
  return running_.erase(command);
}

}  // namespace hostler::dispatch
