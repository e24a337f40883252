#pragma once

#include <string>

#include "core/agent/host/attempt/shim_task.h"
#include "core/agent/host/system/launch.h"
#include "core/agent/host/system/os.h"
#include "core/base/error.h"

/// Prepares what a job needs before it starts: its folder, command, environment and standard input.
/// Runs in the shim; the functions may block for disk writes.
namespace hostler::agent {

/// Creates the empty working folder of the task's slot, which belongs to the user of the job.
Result<void> make_folder(const ShimTask& task);

/// Fills in everything but the three streams. If the job is a script, writes it to a file.
Result<Launch> launch_of(const ShimTask& task);
/// The same for another program that runs as the job does; the caller adds its command.
Launch launch_beside(const ShimTask& task);

/// A descriptor to read the job's standard input from; empty if the job has none.
Result<UniqueFd> standard_input(const Start& start);

/// "out/42.1.sh": the file of a job that is a script.
std::string script_path(model::AttemptId attempt);

}  // namespace hostler::agent
