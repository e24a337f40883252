#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/store/database.h"

/// The only code that calls libpq.
namespace hostler::store::postgres {

/// A connection of its own to the database that `conninfo` names; tables lie in the schema
/// `hostler`, which the first kWrite makes. synchronous_commit is on. It begins anew by itself when
/// the server has ended it; statements stay good.
///
/// kWrite takes the database for this process for as long as it lives: kConflict, naming the other,
/// if another has it. What it commits carries a mark, by which it knows after a broken connection
/// whether a COMMIT had its effect, and whether anybody else has written: that is kLost.
Result<std::unique_ptr<Connection>> open(const std::string& conninfo, Mode mode);
/// kRead, so many, that share what is known of a server that is away.
Result<std::vector<std::unique_ptr<Connection>>> open_readers(const std::string& conninfo,
                                                              std::size_t count);

}  // namespace hostler::store::postgres
