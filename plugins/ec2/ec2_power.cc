#include "ec2_set.h"

namespace hostler::ec2 {

void Ec2Set::set_power(const char* action, const Instance& found, hostler_op* op) const {
  const Subject subject{{}, found.zone, found.subnet, found.image};
  with_context("change the power of " + found.id, subject, [&] {
    Query query(action);
    ec2_.change(query.add("InstanceId.1", found.id), op);
  });
}

void Ec2Set::start(const hostler_power_req& request, hostler_op* op) {
  const Instance found = find_ours(request.id, request.expected_set_id, op);
  if (found.state != HOSTLER_STATE_RUNNING && found.state != HOSTLER_STATE_PENDING)
    set_power("StartInstances", found, op);
}

void Ec2Set::stop(const hostler_power_req& request, hostler_op* op) {
  const Instance found = find_ours(request.id, request.expected_set_id, op);
  if (found.state != HOSTLER_STATE_STOPPED && found.state != HOSTLER_STATE_STOPPING)
    set_power("StopInstances", found, op);
}

}  // namespace hostler::ec2
