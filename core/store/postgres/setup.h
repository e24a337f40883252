#pragma once

#include <string>

#include "core/store/database.h"
#include "core/store/postgres/session.h"

/// What makes a fresh session one of the store's.
namespace hostler::store::postgres {

/// Version, encoding, settings. kUnavailable or kInternal with what to do.
Result<void> set_up(Session& session, Mode mode);

/// Takes the database for this process; the server lets go of it when the session ends, after what
/// the session was committing. kConflict: another hostlerd has it. kUnavailable: it may work later;
/// an earlier session of this process (known by its `name`) that still ends is told to.
Result<void> take_database(Session& session, const std::string& name);

/// Makes the schema `hostler` if it is not there.
Result<void> make_schema(Session& session);

}  // namespace hostler::store::postgres
