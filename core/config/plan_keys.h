#pragma once

#include <optional>

#include "core/json/reader.h"
#include "core/model/policy.h"

namespace hostler::config {

/// The keys of a pool that plans go by, with the limits and defaults of the configuration: a saved
/// snapshot has the same ones (core/planning).
void read_plan_keys(json::Object& o, model::PoolPolicy& out);
/// The key `leases` of a pool, likewise. Absent: `out` stays as it is.
void read_leases(const json::Field& field, std::optional<model::LeasePolicy>& out);

}  // namespace hostler::config
