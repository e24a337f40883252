#pragma once

#include <string>

#include "core/base/error.h"
#include "core/store/connect.h"

/// Rows in PostgreSQL name files in the state folder. With the rows of another database the same
/// names would show the output of other jobs. So the folder stores the owner id of its database in
/// the file "postgres".
namespace hostler::store {

/// kConflict if the folder has its rows in the other engine. Call it before anything is opened.
Result<void> check_engine(const Place& place);
/// Binds a folder that is not bound yet. kConflict if it is bound to another database. With SQLite
/// it does nothing: the rows are in the folder.
Result<void> bind_to_owner(const Place& place, const std::string& owner);

}  // namespace hostler::store
