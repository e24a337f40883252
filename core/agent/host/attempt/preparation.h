#pragma once

#include <string>

#include "core/agent/host/attempt/shim_task.h"
#include "core/agent/host/system/launch.h"
#include "core/agent/host/system/os.h"
#include "core/base/error.h"

/// What a job finds when it begins: its folder, its command and environment, its standard input.
namespace hostler::agent {

/// The working folder of the task's slot, for its user; inputs are not placed yet.
Result<void> make_folder(const ShimTask& task);

/// All but its three streams. Writes the job's script, if it is one.
Result<Launch> launch_of(const ShimTask& task);

/// The text that the job was given, or nothing.
Result<UniqueFd> standard_input(const Start& start);

/// "out/42.1.sh"
std::string script_path(model::AttemptId attempt);

}  // namespace hostler::agent
