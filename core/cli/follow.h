#pragma once

#include <string>

#include "core/cli/client.h"

/// Reading streams of the daemon. If the daemon restarts, these functions connect again and
/// continue where they stopped: nothing is shown twice or left out.
namespace hostler::cli {

/// Sleeps before the next try to reach the daemon, after `failures` failures in a row. Returns
/// false without sleeping if there were too many: give up.
bool pause_before_retry(int failures);

/// Copies a job's "stdout" or "stderr" to `fd` until the stream has ended. kUnavailable: the
/// connection ended too early too often.
Result<void> copy_to_the_end(Client& client, const std::string& id, const char* stream, int fd);

}  // namespace hostler::cli
