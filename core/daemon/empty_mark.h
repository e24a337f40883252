#pragma once

#include <filesystem>

#include "core/base/error.h"

/// The file `no-instances` in the state folder. It exists while no daemon runs and the last one
/// stopped with no instance left: then removing hostler may remove the folder too. These functions
/// block while they write.
namespace hostler::daemon {

/// To be called before any instance can be created. Fails if the file cannot be removed.
Result<void> clear_empty_mark(const std::filesystem::path& state);
/// An error is only logged: without the mark the folder is kept.
void set_empty_mark(const std::filesystem::path& state);

}  // namespace hostler::daemon
