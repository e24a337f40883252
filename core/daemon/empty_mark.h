#pragma once

#include <filesystem>

#include "core/base/error.h"

/// A file in the state folder, `no-instances`: the last daemon stopped with no instance left, and
/// none has started since. Only then may whoever removes hostler remove the folder too. Blocking.
namespace hostler::daemon {

/// Before anything can be created. Fails if a mark stays.
Result<void> clear_empty_mark(const std::filesystem::path& state);
/// An error is logged and of no consequence: without the mark the folder is kept.
void set_empty_mark(const std::filesystem::path& state);

}  // namespace hostler::daemon
