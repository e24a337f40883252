#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/dispatch/state/recorder.h"

namespace hostler::dispatch {

/// The purpose of a command that runs on a host for a lease.
enum class LeaseStep : std::uint8_t {
  kOpen,   ///< The account of the lease is opened.
  kTell,   ///< Its holder is told of the end.
  kClean,  ///< The cleaning command of the pool is run.
  kClose,  ///< The account of the lease is closed.
  kFind,   ///< The host is asked which accounts of leases it has; it is for no lease.
};
enum class CommandResult : std::uint8_t {
  kGood,     ///< Status 0.
  kFailed,   ///< It has ended otherwise.
  kUnknown,  ///< It may have run, and may still run.
};

/// Commands that run on proved hosts. The start of each is in the ledger before it is sent, and
/// each gets one end there: as the host reports it, or as not known when the connection ends, the
/// host does, or no answer comes. A restart forgets them, and sends none again.
class HostCommands {
 public:
  explicit HostCommands(Recorder& recorder) : recorder_(recorder) {}

  /// Nothing happens if too many run there already.
  void start(model::InstanceId on, const model::CommandProposed& proposal, Now now);
  /// Runs a command for a lease; take_ended() tells its end.
  void run(model::InstanceId on, model::WorkId lease, LeaseStep step,
           const model::HostExec& command, Now now);
  [[nodiscard]] bool runs(model::InstanceId on, model::WorkId lease, LeaseStep step) const;
  /// A command for a lease, or LeaseStep::kFind, that has ended.
  struct Ended {
    model::InstanceId on;
    model::WorkId lease;
    LeaseStep step{};
    CommandResult result{};
    std::string how;          ///< For people; "status 0" if it is good.
    std::string output = {};  ///< Any bytes that it printed.
  };
  /// Those that have ended since the last call, in this order.
  [[nodiscard]] std::vector<Ended> take_ended() { return std::exchange(ended_, {}); }
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
    model::WorkId lease = {};  ///< That it is for; 0: none.
    LeaseStep step = {};
    std::string purpose = {};
    Mono deadline = {};
  };
  struct End {
    CommandResult result{};
    std::string how;
    std::string output = {};
  };
  using Map = std::map<std::uint64_t, Running>;
  void run(const model::HostExec& command, std::uint64_t proposal, Running running, Now now);
  static End end_of(const model::CommandEnded& reported);
  static End not_known(const std::string& why);
  Map::iterator end(Map::iterator command, End how, Now now);

  Recorder& recorder_;
  Map running_;  ///< By number.
  std::uint64_t last_ = 0;
  std::vector<Ended> ended_;
};

}  // namespace hostler::dispatch
