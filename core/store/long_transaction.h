#pragma once

#include "core/base/error.h"
#include "core/store/database.h"

namespace hostler::store {

/// For the present transaction, which may change most rows of a table at a start: if it failed by a
/// limit, each later start would. The caller sets the connection's patience back after it.
inline Result<void> lift_limits(Connection& connection) {
  connection.set_patience(Patience::kEndless);
  if (connection.engine() != Engine::kPostgres) return {};
  return connection.execute("SET LOCAL statement_timeout = 0; SET LOCAL enable_seqscan = on");
}

}  // namespace hostler::store
