#include "core/dispatch/state/set_aside.h"

#include <algorithm>

namespace hostler::dispatch {
namespace {

/// UINT32_MAX: there is none of that name.
template <class Named>
std::uint32_t index_of(const std::vector<Named>& all, const std::string& name) {
  const auto found = std::ranges::find(all, name, &Named::name);
  return found == all.end() ? UINT32_MAX : static_cast<std::uint32_t>(found - all.begin());
}

bool matches(const std::string& ours, const std::string& seen) {
  return !ours.empty() && ours == seen;
}

}  // namespace

void SetAside::add(const model::DamagedRow& row) {
  if (row.instance) records_.push_back(*row.instance);
  if (const auto work = model::WorkId::parse(row.key)) work_.insert(work->value);
  if (const auto attempt = model::AttemptId::parse(row.key)) work_.insert(attempt->work.value);
}

std::vector<std::int64_t> SetAside::count_pools(const model::SitePolicy& policy) const {
  std::vector<std::int64_t> out(policy.pools.size());
  for (const auto& record : records_)
    if (const auto pool = index_of(policy.pools, record.pool); pool < out.size()) ++out[pool];
  return out;
}

void SetAside::count(const model::SitePolicy& policy, gates::Governor& governor) const {
  for (const auto& record : records_)
    governor.added(index_of(policy.sets, record.set), index_of(policy.pools, record.pool),
                   record.price_per_hour);
}

bool SetAside::has_nameless_instance() const {
  return std::ranges::any_of(records_, [](const model::InstanceRecord& record) {
    return record.provider_id.empty() && record.request_id.empty() &&
           record.idempotency_key.empty();
  });
}

bool SetAside::contains(const std::string& set, const model::ListedInstance& seen) const {
  return std::ranges::any_of(records_, [&](const model::InstanceRecord& record) {
    return record.set == set &&
           (matches(record.idempotency_key, seen.idempotency_key) ||
            matches(record.provider_id, seen.id) || matches(record.provider_id, seen.request_id) ||
            matches(record.request_id, seen.request_id));
  });
}

}  // namespace hostler::dispatch
