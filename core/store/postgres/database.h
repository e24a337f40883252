#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/store/database.h"

/// The only code that calls libpq.
namespace hostler::store::postgres {

/// A connection to the database that `conninfo` names. The tables are in the schema `hostler`,
/// which the first kWrite connection makes. synchronous_commit is on. After the server has ended a
/// session the connection opens another; statements stay valid.
///
/// kWrite locks the database for this process; kConflict if another process has it (the message
/// names that process). Each commit carries a mark. After a broken connection the mark tells
/// whether a COMMIT took effect, and whether another process has written, which is kLost.
Result<std::unique_ptr<Connection>> open(const std::string& conninfo, Mode mode);
/// `count` kRead connections, which share the knowledge that a server is away.
Result<std::vector<std::unique_ptr<Connection>>> open_readers(const std::string& conninfo,
                                                              std::size_t count);

}  // namespace hostler::store::postgres
