#pragma once

#include <string>
#include <string_view>

#include "core/base/error.h"
#include "core/ssh/session.h"

/// Asks a host what has become of the site's init command, which the init script runs at its first
/// boot.
namespace hostler::ssh {

struct InitState {
  enum class Phase {
    kNone,     ///< The init script had no command, or is one of an older hostler.
    kNotRun,   ///< The init script has not run yet.
    kAwaited,  ///< The init script has run, and the command is to come: make_init_delivery().
    kRunning,  ///< The command runs.
    kEnded,
  };
  Phase phase = Phase::kNone;
  std::string end;     ///< With kEnded: the exit status, 0 to 255, or "killed", or "restarted".
  std::string output;  ///< The last 4096 bytes at most of what it printed: any bytes.

  [[nodiscard]] bool failed() const { return phase == Phase::kEnded && end != "0"; }
  /// "status 3", for people; only with kEnded.
  [[nodiscard]] std::string ending() const;
  /// The end of the output, its last lines, as one printable line of 400 bytes or little more.
  [[nodiscard]] std::string output_end() const;
  /// What the boot waits for, or how the command ended, with the end of its output; one line.
  [[nodiscard]] std::string describe() const;
};

/// The command to run on the host. `nonce`: hexadecimal, another one for each call. `instance`, as
/// the init script has it: the state that another one has left in an image is kNotRun. Empty: any.
[[nodiscard]] ExecRequest init_state_request(std::string_view nonce,
                                             std::string_view instance = {});

/// Reads the output of the command. An error (kUnavailable) says why it is no answer.
[[nodiscard]] Result<InitState> parse_init_state(std::string_view nonce, const ExecResult& result);

/// Runs the command on a proved session. Ends by the limit of the command, see ExecRequest.
boost::asio::awaitable<Result<InitState>> read_init_state(Session& session, std::string instance);

}  // namespace hostler::ssh
