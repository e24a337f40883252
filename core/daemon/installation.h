#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/base/error.h"

/// Where the parts of hostler lie, and the keys it makes for itself. Blocking.
namespace hostler::daemon {

/// The folder of the running program.
std::filesystem::path program_folder();

/// hostler-agent's bytes: beside the program, else in ../lib/hostler.
Result<std::string> read_agent_program();

/// The config's folders, then the ones beside the program (a build tree, or /usr/lib/hostler).
std::vector<std::filesystem::path> driver_folders(std::vector<std::filesystem::path> configured);

/// The set's own ed25519 key, made at first; a secret.
Result<std::string> own_user_key(const std::filesystem::path& state, const std::string& set);

}  // namespace hostler::daemon
