#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/dispatch/state/recorder.h"

namespace hostler::dispatch {

/// Commands that run on proved hosts. The start of each is in the ledger before it is sent, and
/// each gets one end there: as the host reports it, or as not known when the connection ends, the
/// host does, or no answer comes. A restart forgets them, and sends none again.
class HostCommands {
 public:
  explicit HostCommands(Recorder& recorder) : recorder_(recorder) {}

  /// Nothing happens if too many run there already.
  void start(model::InstanceId on, const model::CommandProposed& proposal, Now now);
  /// Runs a command that cleans the host after this lease; take_cleaned() tells its end. False: too
  /// many run there already.
  bool clean(model::InstanceId on, model::WorkId lease, const model::HostExec& command, Now now);
  struct Cleaned {
    model::WorkId lease;
    std::string problem;  ///< Why the host is not known to be clean; empty: it is.
  };
  /// Leases whose cleaning commands have ended since the last call.
  [[nodiscard]] std::vector<Cleaned> take_cleaned() { return std::exchange(cleaned_, {}); }
  /// An end that is reported late or twice has no effect.
  void ended(model::InstanceId on, const model::CommandEnded& end, Now now);
  /// Nobody can say any more how those of the host end.
  void lost(model::InstanceId on, const std::string& why, Now now);
  /// Ends those whose answer is overdue.
  void end_due(Now now);
  /// When end_due() has something to do.
  [[nodiscard]] Mono next_deadline() const;
  struct Awaited {
    model::InstanceId on;
    std::string purpose;  ///< Fit to print.
    Mono until;
  };
  /// Those whose end is still to come, in the order of their starts.
  [[nodiscard]] std::vector<Awaited> awaited() const;

 private:
  struct Running {
    model::InstanceId on;
    std::string purpose;
    Mono deadline;
    std::optional<model::WorkId> lease = {};  ///< That it cleans up after.
  };
  using Map = std::map<std::uint64_t, Running>;
  /// The number of the command; nullopt: too many run there already.
  std::optional<std::uint64_t> run(model::InstanceId on, const model::HostExec& command,
                                   std::uint64_t proposal, Now now);
  Map::iterator end(Map::iterator command, const std::string& how, Now now);

  Recorder& recorder_;
  Map running_;  ///< By number.
  std::uint64_t last_ = 0;
  std::vector<Cleaned> cleaned_;
};

}  // namespace hostler::dispatch
