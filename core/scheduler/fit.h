#pragma once

#include <cstdint>
#include <string>

#include "core/model/ids.h"
#include "core/model/job.h"
#include "core/model/policy.h"
#include "core/scheduler/snapshot.h"

/// Whether one item may run on an offering: constraints, price caps, resources.
namespace hostler::scheduler {

/// Hosts of the pool are for work of the kind: jobs need the agent, and leases a pool that lends.
/// Tasks go to a pool that an outside scheduler sizes, and nothing else does.
[[nodiscard]] bool takes(const model::PoolPolicy& pool, model::WorkKind kind);
/// "job", "lease", "reservation", "task".
[[nodiscard]] const char* noun_of(model::WorkKind kind);

/// Work of the kind with these constraints may go to such a host of the pool, if it fits and the
/// host has such cards.
[[nodiscard]] bool meets(model::WorkKind kind, const model::Constraints& constraints,
                         const model::PoolPolicy& pool, const std::string& type_name,
                         const std::string& zone, model::Market market);
/// Why the pool is not for it: "pool ci does not lend hosts"; empty if it is.
[[nodiscard]] std::string unmet_by_pool(model::WorkKind kind, const model::Constraints& constraints,
                                        const model::PoolPolicy& pool);

/// The offering's indices are within the policy's tables.
[[nodiscard]] bool is_valid(const Offering& offering, const model::SitePolicy& policy);

/// An empty host of the offering holds an item of the shape. It must be valid.
[[nodiscard]] bool fits(const model::WorkShape& shape, model::WorkKind kind,
                        const Offering& offering, const model::SitePolicy& policy);

/// The order of offerings: price, market (on_demand first), gpus (fewer first, or work without gpus
/// would take them), type name, zone, pool name, set name. It does not depend on indices. Both must
/// be valid.
[[nodiscard]] bool cheaper(const Offering& a, const Offering& b, const model::SitePolicy& policy);

/// How many such items fit into `room` together; INT32_MAX if an item needs nothing.
[[nodiscard]] std::uint64_t fit_count(const model::Resources& item, const model::Resources& room);
/// The resources of `n` items. The caller knows that they fit on a host, so nothing overflows.
[[nodiscard]] model::Resources times(const model::Resources& item, std::uint64_t n);

}  // namespace hostler::scheduler
