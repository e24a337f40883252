#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/dispatch/state/metrics/metrics.h"
#include "core/model/records.h"

/// The values of a host in metrics that have a label.
namespace hostler::dispatch {

/// By what the label may name the host: our id, or the cloud's.
[[nodiscard]] inline std::vector<std::string> metric_keys(const model::InstanceRecord& host) {
  std::vector<std::string> out{host.id.text()};
  if (!host.provider_id.empty()) out.push_back(host.provider_id);
  return out;
}

/// `scaling.rank` of the host; unset: it is not known, whatever `on_failure` says.
[[nodiscard]] inline std::optional<double> rank_of(const model::InstanceRecord& host,
                                                   const model::PoolPolicy& pool,
                                                   const Metrics& metrics, Now now) {
  if (pool.scaling.rank.empty()) return std::nullopt;
  for (const auto& key : metric_keys(host))
    if (const auto value = metrics.value(pool.scaling.rank, key, now); value.number)
      return value.number;
  return std::nullopt;
}

}  // namespace hostler::dispatch
