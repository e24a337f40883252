#pragma once

#include <string>

#include "core/store/database.h"
#include "core/store/postgres/session.h"

/// Preparation of a new session.
namespace hostler::store::postgres {

/// Checks version and encoding, and applies the settings. The error says what to do.
Result<void> set_up(Session& session, Mode mode);

/// Locks the database for this process. The server releases the lock when the session ends, after
/// the commit that it was doing. kConflict: another hostlerd has it. kUnavailable: try again later;
/// an earlier session of this process (with the same `name`) that is still open was told to end.
Result<void> take_database(Session& session, const std::string& name);

/// Makes the schema `hostler` if it is not there.
Result<void> make_schema(Session& session);

}  // namespace hostler::store::postgres
