#pragma once

#include <string>

#include "core/api/service.h"
#include "core/base/error.h"
#include "core/store/store.h"

namespace hostler::daemon {

/// What instances or jobs cost, as GET /v1/cost shows it: sums by user, job, instance, type, pool
/// or set. Only rows of `owner` and no totals, unless `owner` is empty. Reads all attempts of the
/// period from the store: blocks for seconds where there are millions.
Result<model::CostView> make_cost_view(const store::Reads& reads, const api::CostQuery& query,
                                       const std::string& owner);

/// Whether the rows are of users or jobs, not of instances.
bool is_by_work(api::CostQuery::By by);

}  // namespace hostler::daemon
