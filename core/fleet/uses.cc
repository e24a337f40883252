#include "core/fleet/uses.h"

#include <algorithm>

namespace hostler::fleet {

using model::kUsesUnknown;

bool count_use(model::InstanceRecord& record, const model::PoolPolicy& pool) {
  if (record.uses == kUsesUnknown) return false;
  record.uses = pool.uses_max > 0 ? record.uses + 1 : kUsesUnknown;
  return true;
}

bool uncount_use(model::InstanceRecord& record) {
  if (record.uses == kUsesUnknown || record.uses == 0) return false;
  --record.uses;
  return true;
}

std::int32_t uses_left(const model::InstanceRecord& record, const model::PoolPolicy& pool) {
  if (pool.uses_max <= 0) return INT32_MAX;
  const std::int64_t left = std::int64_t{pool.uses_max} - std::int64_t{record.uses};
  return static_cast<std::int32_t>(std::max<std::int64_t>(0, left));
}

std::string uses_text(const model::InstanceRecord& record, const model::PoolPolicy& pool) {
  if (record.uses == kUsesUnknown) return "it is not known how often it was used";
  return std::to_string(record.uses) + " of " + std::to_string(pool.uses_max) + " uses";
}

}  // namespace hostler::fleet
