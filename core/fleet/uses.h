#pragma once

#include <cstdint>
#include <string>

#include "core/model/policy.h"
#include "core/model/records.h"

/// How often a host may be used: PoolPolicy::uses_max. Attempts and leases count alike.
namespace hostler::fleet {

/// An attempt or a lease is placed on the host. Where its pool has no limit, nothing is counted.
/// True: journal the record with what was placed.
[[nodiscard]] bool count_use(model::InstanceRecord& record, const model::PoolPolicy& pool);
/// The holder of a lease has not used the host: the lease does not count. True: journal the record.
[[nodiscard]] bool uncount_use(model::InstanceRecord& record);
/// So many more attempts and leases may be placed on it; INT32_MAX: any number. A host whose uses
/// are not known has had them all.
[[nodiscard]] std::int32_t uses_left(const model::InstanceRecord& record,
                                     const model::PoolPolicy& pool);
[[nodiscard]] inline bool is_used_up(const model::InstanceRecord& record,
                                     const model::PoolPolicy& pool) {
  return uses_left(record, pool) == 0;
}
/// "2 of 3 uses", or that they are not known.
[[nodiscard]] std::string uses_text(const model::InstanceRecord& record,
                                    const model::PoolPolicy& pool);

}  // namespace hostler::fleet
