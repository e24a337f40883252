#pragma once

#include "core/base/error.h"
#include "core/model/records.h"
#include "core/store/database.h"

namespace hostler::store {

/// Reads the terms of all leases that live. A lease of `out.work` without good terms is set aside,
/// and so is other work that has terms. Nothing tells whether a lease that is set aside, now or
/// before, still has its host, so nobody else may get the host: it is set aside too. An error means
/// that the database cannot be read.
Result<void> restore_leases(Connection& connection, model::Restored& out);

}  // namespace hostler::store
