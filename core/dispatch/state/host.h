#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "core/fleet/instance.h"
#include "core/scheduler/gates.h"
#include "core/scheduler/snapshot.h"

namespace hostler::dispatch {

/// One instance, and what the dispatcher keeps about it beside its life in core/fleet.
struct Host {
  fleet::Instance instance;
  /// The request of its create, until the instance is verified.
  std::shared_ptr<const model::CreateRequest> create;
  std::optional<scheduler::ClassId> reserved_for;
  std::vector<scheduler::Load> load;           ///< The work that its create was made for.
  std::optional<model::Micros> counted_price;  ///< In the governor's account; unset: not counted.
  /// Calls under way, with the query that their gates were asked: the record may have changed when
  /// the answer comes.
  std::optional<scheduler::GateQuery> create_under_way, destroy_under_way, power_under_way;

  [[nodiscard]] model::InstanceId id() const { return instance.record.id; }
  [[nodiscard]] bool has_call_under_way() const {
    return create_under_way || destroy_under_way || power_under_way;
  }
};

}  // namespace hostler::dispatch
