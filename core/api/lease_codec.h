#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/api/work_codec.h"
#include "core/base/error.h"
#include "core/json/writer.h"
#include "core/model/job_limits.h"
#include "core/model/lease.h"
#include "core/model/records.h"
#include "core/model/views.h"

/// A lease as JSON, the same in the API, the store and `hostler leases --json`. No I/O, any thread.
namespace hostler::api {

/// Reads a lease as a client submits it. Absent members leave the defaults of LeaseSpec. Errors
/// name the path of the member, and the place of a bad key.
Result<model::LeaseSpec> read_lease(std::string_view json, const model::JobLimits& limits = {});

/// The whole lease as compact JSON. Equal specs give equal text, and read_lease() gives the spec
/// back. The store keeps this text, and submits with the same client_key are compared by it.
std::string canonical_body(const model::LeaseSpec& spec);

/// The two rows of a lease.
struct LeaseRows {
  model::WorkItem work;
  model::LeaseRecord terms;
};
/// The rows of a new lease; the dispatcher gives it its number.
LeaseRows submitted_lease(const model::LeaseSpec& spec);

/// The server through which the host of a lease is reached.
struct JumpHost {
  std::string host;
  std::uint16_t port = 22;
  std::string host_key;  ///< "ssh-ed25519 AAAA..."
};
/// The present of a lease that has not ended, as far as it applies.
struct LeaseNow {
  std::optional<model::WaitingView> waiting;
  std::optional<model::InstanceView> host;  ///< The one that it has or is to get.
  std::optional<JumpHost> jump_host = {};   ///< Unset: the host is reached directly.
};
/// Writes a lease as one object. How its host is reached is there while it is granted.
void write_lease(json::Writer& w, const LeaseRows& lease, const LeaseNow& now, Sight sight);

}  // namespace hostler::api
