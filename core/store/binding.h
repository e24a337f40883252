#pragma once

#include <string>

#include "core/base/error.h"
#include "core/store/connect.h"

/// Rows in PostgreSQL speak of files in the state folder by name: with another database's rows the
/// same names would show other jobs' output. So the folder keeps the owner id of its database, in
/// the file "postgres".
namespace hostler::store {

/// kConflict if the folder has its rows in the other engine. Before anything is opened.
Result<void> check_engine(const Place& place);
/// Binds a folder that is not bound yet. kConflict if it belongs to another database. Nothing to do
/// for SQLite, whose rows lie in the folder.
Result<void> bind_to_owner(const Place& place, const std::string& owner);

}  // namespace hostler::store
