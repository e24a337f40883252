#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/base/error.h"

/// Where the files of hostler are installed, and the keys that it creates for itself. These
/// functions block while they read and write files.
namespace hostler::daemon {

/// The folder of the running program.
std::filesystem::path program_folder();

/// The bytes of hostler-agent, which is in the folder of the program or in ../lib/hostler.
Result<std::string> read_agent_program();

/// The path of hostler-driver-host, which is in the folder of the program or in ../lib/hostler.
std::string driver_host_program();

/// Where drivers are looked for, in this order; `configured`: driver_path.
std::vector<std::filesystem::path> driver_folders(
    const std::vector<std::filesystem::path>& configured);

/// The set's own ed25519 private key, which is created if there is none yet.
Result<std::string> own_user_key(const std::filesystem::path& state, const std::string& set);

}  // namespace hostler::daemon
