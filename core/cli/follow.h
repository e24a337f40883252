#pragma once

#include <string>

#include "core/cli/client.h"

/// What comes piece by piece. A daemon that restarts is waited for; cursors make sure that nothing
/// is shown twice or left out.
namespace hostler::cli {

/// Pause after the n-th failure in a row to reach the daemon; false when it was long enough.
bool patience(int failures);

/// Copies a job's "stdout" or "stderr" to `fd`, until it is complete. kUnavailable: it ended early
/// again and again.
Result<void> copy_to_the_end(Client& client, const std::string& id, const char* stream, int fd);

}  // namespace hostler::cli
