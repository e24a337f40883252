#pragma once

#include "core/json/reader.h"
#include "core/model/policy.h"

namespace hostler::config {

/// The keys of a pool that plans go by, with the limits and defaults of the configuration: a saved
/// snapshot has the same ones (core/planning).
void read_plan_keys(json::Object& o, model::PoolPolicy& out);

}  // namespace hostler::config
