#pragma once

#include <cstdint>
#include <string>

#include "core/model/job.h"
#include "core/model/policy.h"
#include "core/scheduler/snapshot.h"

/// What may run where, for one item: constraints, caps, resources.
namespace hostler::scheduler {

[[nodiscard]] bool meets(const model::Constraints& constraints, const std::string& type_name,
                         const std::string& zone, model::Market market);

/// The offering's indices are within the policy's tables.
[[nodiscard]] bool is_valid(const Offering& offering, const model::SitePolicy& policy);

/// Its pool would pay its price of now.
[[nodiscard]] bool within_cap(const Offering& offering, const model::SitePolicy& policy);

/// Canonical order of offerings, whatever their indices: price, type name, zone, pool name, set
/// name, market. Both must be valid.
[[nodiscard]] bool cheaper(const Offering& a, const Offering& b, const model::SitePolicy& policy);

/// What `room` lacks for `needs`, first resource only: "2 of 8 vcpus"; empty if nothing.
[[nodiscard]] std::string lacks(const model::Resources& needs, const model::Resources& room);

/// How many such items have room together; INT32_MAX where an item needs nothing.
[[nodiscard]] std::uint64_t fit_count(const model::Resources& item, const model::Resources& room);
/// What `n` of them need; the caller knows that it is no more than there is anywhere.
[[nodiscard]] model::Resources times(const model::Resources& item, std::uint64_t n);

}  // namespace hostler::scheduler
