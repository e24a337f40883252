#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "core/model/records.h"
#include "core/pricing/history.h"

namespace hostler::pricing {

/// What of an instance's cost is a job's that used `used` of its `total`: the largest share of any
/// one resource. All of it where the total is not known (zero).
[[nodiscard]] model::Micros part_of(model::Micros cost, const model::Resources& used,
                                    const model::Resources& total);

/// What instances, and the jobs on them, cost over [since, until): by the prices that their clouds
/// said, else by an instance's own; what lies after `now` is not on it. Time switched off is free:
/// the present stop as it is, earlier ones spread evenly over the life until then.
class Bill {
 public:
  struct Entry {
    model::Micros cost;
    std::int64_t used_us = 0;  ///< An instance was on, a job ran.
  };
  /// `prices`: of each set, type, market and zone newest first.
  Bill(Wall since, Wall until, Wall now, const std::vector<model::PriceSeen>& prices);

  /// Counts if its cloud ever showed it, and it was there meanwhile.
  void add(model::InstanceRecord instance);
  [[nodiscard]] const std::map<model::InstanceId, model::InstanceRecord>& instances() const {
    return instances_;
  }

  [[nodiscard]] Entry of(const model::InstanceRecord& instance) const;
  /// Of a job that had `needs` of the instance over [from, to); to 0: it runs. Nothing for an
  /// instance that is not on the bill.
  [[nodiscard]] Entry of(model::InstanceId instance, const model::Resources& needs, Wall from,
                         Wall to) const;

 private:
  using Place = std::tuple<std::string, std::string, model::Market, std::string>;

  /// Of its life, what the bill covers.
  [[nodiscard]] std::pair<Wall, Wall> stay(const model::InstanceRecord& instance) const;
  [[nodiscard]] model::Micros cost(const model::InstanceRecord& instance, Wall from, Wall to) const;
  [[nodiscard]] std::int64_t off_us(const model::InstanceRecord& instance) const;

  const Wall since_, until_, now_;
  std::map<Place, History> histories_;
  std::map<model::InstanceId, model::InstanceRecord> instances_;
};

}  // namespace hostler::pricing
