#pragma once

#include <memory>

#include "config.h"
#include "http/transport.h"
#include "keys.h"

namespace hostler::ec2 {

/// The ways to the servers that a set talks to.
struct Transports {
  std::shared_ptr<http::Transport> ec2, sts;
  std::shared_ptr<http::Transport> metadata;  ///< Of the machine that this runs on.
  int retry_pause_ms = 800;                   ///< See Api::Service.
};

Transports make_transports(const Config& config);

/// Keys as configured: given ones, or those of the machine's role, and with `role_arn` those of
/// that role. No I/O.
std::shared_ptr<KeySource> make_key_source(const Config& config, const Credentials& credentials,
                                           const Transports& transports);

}  // namespace hostler::ec2
