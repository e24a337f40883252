#pragma once

#include <filesystem>

#include "core/base/error.h"
#include "core/store/connect.h"

namespace hostler::store {

/// Makes a store of a backup, whichever engine the backup was made from. The state folder must be
/// empty or missing, and so must a PostgreSQL database; else kConflict, and nothing is changed. A
/// load that did not end leaves a folder that no daemon takes. The store is old then: see Known.
/// Blocks.
Result<void> load_backup(const std::filesystem::path& backup, const Place& to);

/// kConflict if a load into this folder did not end.
Result<void> check_loaded(const std::filesystem::path& folder);

}  // namespace hostler::store
