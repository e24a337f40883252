#pragma once

#include <memory>
#include <optional>
#include <string>

#include "core/dispatch/state/host_calls.h"
#include "core/dispatch/state/interruptions_told.h"
#include "core/dispatch/state/made_for.h"
#include "core/dispatch/state/sets/last_list.h"
#include "core/fleet/boot.h"
#include "core/fleet/instance.h"
#include "core/scheduler/beyond_max.h"
#include "core/scheduler/snapshot.h"

namespace hostler::dispatch {

/// The tags of an instance in its cloud. A restart forgets this.
struct TagWrites {
  std::uint32_t under_way = 0;    ///< Calls: an admin may change a tag while one is under way.
  std::string repairing;          ///< The tags that a call under way repairs; empty: none.
  Mono ended_at = Mono::min();    ///< Of the last call: older lists tell nothing.
  Mono not_before = Mono::min();  ///< Of the next repair.
  std::uint32_t repairs = 0;      ///< Since a list last showed the right tags.
  bool reported = false;
};

/// The console of a host that did not come up was asked for. A restart forgets this.
struct ConsoleAsked {
  Mono until;  ///< The destroy waits for the answer until then.
  bool under_way = true;
};

/// Work that the host reports and that was not known here. A restart forgets this.
struct UnknownWork {
  std::uint32_t taken_over = 0;  ///< Jobs that were taken over, see Takeover.
  bool has_lease = false;        ///< A lease was taken over, see LeaseTakeover: one at most.
  bool told = false;             ///< An event says that it reports such jobs, left alone.
};

/// One instance, and the facts that the dispatcher keeps about it beside its life in core/fleet, in
/// groups.
struct Host {
  fleet::Instance instance;
  /// The request of its create, until the instance is verified.
  std::shared_ptr<const model::CreateRequest> create;
  std::string image;  ///< Of that request, also afterwards; empty: none, or not known any more.
  fleet::Boot boot = fleet::Boot::kUnderWay;  ///< As BootGates has counted it.
  std::optional<demand::ClassId> reserved_for;
  MadeFor made_for;
  scheduler::Closed closed = scheduler::Closed::kNo;  ///< It gets no new work.
  std::optional<model::Micros> counted_price;  ///< In the governor's account; unset: not counted.
  HostCalls calls;

  InterruptionsTold interruptions;

  /// Its entry in the last list told nothing new, and would tell nothing now. Unset: it might.
  std::shared_ptr<Settled> settled;
  TagWrites tags;
  std::optional<ConsoleAsked> console;
  UnknownWork unknown_work;

  [[nodiscard]] model::InstanceId id() const { return instance.record.id; }
};

}  // namespace hostler::dispatch
