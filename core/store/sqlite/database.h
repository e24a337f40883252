#pragma once

#include <filesystem>
#include <memory>

#include "core/store/database.h"

/// The only code that calls SQLite.
namespace hostler::store::sqlite {

/// WAL, synchronous=FULL, secure_delete. The file is made (0600) in kWrite. A lock by someone else
/// is waited for `busy_ms`.
Result<std::unique_ptr<Connection>> open(const std::filesystem::path& file, Mode mode, int busy_ms);

}  // namespace hostler::store::sqlite
