#pragma once

#include <vector>

#include "create.h"

namespace hostler::ec2 {

/// The volumes that a request asks for. Throws INVALID on more than EC2 has names for.
std::vector<CreateSpec::Disk> read_disks(const hostler_create_req& request,
                                         const InstanceDefaults& defaults);

}  // namespace hostler::ec2
