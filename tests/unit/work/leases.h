#pragma once

#include "core/work/lease.h"
#include "tests/unit/work/times.h"

namespace hostler::work {

inline constexpr model::InstanceId kLentHost{7};
inline constexpr Duration kTerm = std::chrono::hours(2), kWaitMax = std::chrono::minutes(10);

inline Lease waiting_lease() {
  Lease lease;
  lease.record.id = lease.terms.id = {3, model::WorkKind::kLease};
  lease.terms.term = kTerm;
  lease.terms.wait_max = kWaitMax;
  set_due(lease, at({}).wall, at({}));
  return lease;
}
inline Lease granting_lease() {
  Lease lease = waiting_lease();
  (void)placed(lease, kLentHost, model::Login::kNone, at({}));
  return lease;
}
inline Lease granted_lease() {
  Lease lease = granting_lease();
  (void)granted(lease, at({}));
  return lease;
}
inline Lease ending_lease() {
  Lease lease = granted_lease();
  (void)returned(lease, /*used=*/true, /*cleans=*/true, at({}));
  return lease;
}
/// With an account that was opened on its host.
inline Lease opening_lease() {
  Lease lease = waiting_lease();
  lease.terms.ssh_keys = {"ssh-ed25519 AAAA"};
  (void)placed(lease, kLentHost, model::Login::kUser, at({}));
  return lease;
}
inline Lease logged_in_lease() {
  Lease lease = opening_lease();
  (void)granted(lease, at({}));
  return lease;
}
inline Lease ended_lease() {
  Lease lease = granted_lease();
  (void)returned(lease, /*used=*/true, /*cleans=*/false, at({}));
  return lease;
}
/// It was granting when the backup was made that its state was restored from.
inline Lease held_lease() {
  Lease lease = granting_lease();
  lease.record.restored = true;
  (void)host_gone(lease, "it is gone", /*was_announced=*/false, at({}));
  return lease;
}

}  // namespace hostler::work
