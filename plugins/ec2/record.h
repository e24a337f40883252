#pragma once

#include <hostler/driver.hpp>

#include "instance.h"

namespace hostler::ec2 {

/// What EC2's lists do not have.
struct Extra {
  std::int64_t micros_per_hour = -1;
  std::int64_t interruption_unix_ns = 0;
};

/// Hands it to the host; throws CANCELLED if the host wants no more.
void emit_instance(const Instance& instance, const Extra& extra, hostler_op* op);

}  // namespace hostler::ec2
