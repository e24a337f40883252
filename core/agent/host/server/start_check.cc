#include "core/agent/host/server/start_check.h"

#include <utility>

#include "core/agent/host/journal/journal.h"

namespace hostler::agent {
namespace {

constexpr std::uint64_t kDescriptorsMin = 128;  ///< For a shim and a job.
constexpr std::uint64_t kKeptMax = std::uint64_t{1} << 40;

/// Why the attempt cannot have the cards that its Start names, apart from who has them; "": it can.
std::string problem_of_cards(const Start& start) {
  if (start.cards.empty() && !start.files.empty()) return "device files are named, but no card";
  std::size_t bytes = 0;
  for (const auto* list : {&start.cards, &start.files})
    for (const std::string& text : *list) {
      if (text.empty()) return "a card or device file has no name";
      bytes += text.size();
    }
  if (bytes > kCardBytesMax)
    return "the names of cards and device files have more than " + std::to_string(kCardBytesMax) +
           " bytes";
  return "";
}

}  // namespace

std::optional<Refused> check_start(const Start& start, const HostFacts& host) {
  using Why = Refused::Why;
  const auto refuse = [&](Why why, std::string text) {
    return Refused{start.attempt, why, std::move(text)};
  };
  if (start.boot_id != host.boot_id)
    return refuse(Why::kOtherBoot, "this host's boot is " + host.boot_id + " by now");
  if (start.sequence <= host.last_sequence || start.sequence > INT64_MAX)
    return refuse(Why::kUsedSequence, "sequence number " + std::to_string(start.sequence) +
                                          " is not above " + std::to_string(host.last_sequence));
  if (host.is_known) return refuse(Why::kBadRequest, "this attempt is known already");
  if (start.command.empty() == start.script.empty())
    return refuse(Why::kBadRequest, "exactly one of command and script is needed");
  if (!start.command.empty() && start.command[0].empty())
    return refuse(Why::kBadRequest, "the command's first word is empty");
  for (const auto& [name, value] : start.env)
    if (name.empty() || name.find('=') != std::string::npos)
      return refuse(Why::kBadRequest, "an environment name is empty or has '='");
  if (start.output_head_max > kKeptMax || start.output_tail_max > kKeptMax ||
      start.time_limit_us > INT64_MAX / 4 || start.grace_us > INT64_MAX / 4)
    return refuse(Why::kBadRequest, "a limit is out of range");
  if (std::string problem = problem_of_cards(start); !problem.empty())
    return refuse(Why::kBadRequest, std::move(problem));
  if (host.descriptors_max < kDescriptorsMin)
    return refuse(Why::kInternal, "a process may open " + std::to_string(host.descriptors_max) +
                                      " files on this host (ulimit -n), and a job needs " +
                                      std::to_string(kDescriptorsMin));
  if (host.attempts >= kAttemptsMax)
    return refuse(Why::kBusy, std::to_string(kAttemptsMax) + " attempts are not acknowledged yet");
  for (const auto* names : {&start.cards, &start.files})
    for (const std::string& name : *names)
      if (const auto holder = host.holders.find(name); holder != host.holders.end())
        return refuse(Why::kBusy, "attempt " + holder->second.text() + " has the card " + name +
                                      " and still runs");
  return std::nullopt;
}

}  // namespace hostler::agent
