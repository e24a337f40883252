#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "core/model/records.h"
#include "core/pricing/history.h"

namespace hostler::pricing {

/// The share of an instance's cost for a job that used `used` of the instance's `total` resources:
/// the largest share of any one resource, and at least that of one of the `jobs_max` jobs that the
/// instance may run at the same time (0: not known, as many as any). The whole cost if the total is
/// unknown (zero).
[[nodiscard]] model::Micros part_of(model::Micros cost, const model::Resources& used,
                                    const model::Resources& total, std::int32_t jobs_max);

/// Computes what instances and the jobs on them cost over [since, until), up to `now`. Uses the
/// prices that the clouds reported, or else the price of the instance's record. Time in which an
/// instance was switched off costs nothing. The present stop is known exactly; of earlier stops
/// only the total duration is known, which is spread evenly over the time before. Pure.
class Bill {
 public:
  struct Entry {
    model::Micros cost;
    std::int64_t used_us = 0;  ///< Time that the instance was on, or that the job ran.
  };
  /// `prices`: newest first for each set, type, market and zone.
  Bill(Wall since, Wall until, Wall now, const std::vector<model::PriceRow>& prices);

  /// Adds the instance if it existed in the period and the cloud has ever listed it.
  void add(model::InstanceRecord instance);
  [[nodiscard]] const std::map<model::InstanceId, model::InstanceRecord>& instances() const {
    return instances_;
  }

  /// Cost of an instance.
  [[nodiscard]] Entry of(const model::InstanceRecord& instance) const;
  /// Cost of a job that occupied `needs` of the instance over [from, to); `to` 0: it still runs.
  /// Zero if the instance was not added.
  [[nodiscard]] Entry of(model::InstanceId instance, const model::Resources& needs, Wall from,
                         Wall to) const;

 private:
  /// Set, type, market, zone.
  using Place = std::tuple<std::string, std::string, model::Market, std::string>;

  /// The part of the instance's life that is in the period.
  [[nodiscard]] std::pair<Wall, Wall> billed_time(const model::InstanceRecord& instance) const;
  [[nodiscard]] model::Micros cost(const model::InstanceRecord& instance, Wall from, Wall to) const;
  /// Time within billed_time() in which the instance was switched off.
  [[nodiscard]] std::int64_t off_us(const model::InstanceRecord& instance) const;

  const Wall since_, until_, now_;
  std::map<Place, History> histories_;
  std::map<model::InstanceId, model::InstanceRecord> instances_;
};

}  // namespace hostler::pricing
