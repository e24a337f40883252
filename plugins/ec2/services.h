#pragma once

#include "api.h"
#include "config.h"
#include "transports.h"

namespace hostler::ec2 {

inline Api::Service ec2_service(const Config& config, const Transports& transports) {
  return {"ec2", "2016-11-15", config.region, transports.retry_pause_ms};
}
inline Api::Service sts_service(const Config& config, const Transports& transports) {
  return {"sts", "2011-06-15", config.region, transports.retry_pause_ms};
}

}  // namespace hostler::ec2
