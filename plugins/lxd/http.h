#pragma once

#include "config.h"
#include "http/client.h"
#include "transport.h"

namespace hostler::lxd {

/// The way to one LXD, over a unix socket or TLS.
class Http : public http::Client {
 public:
  Http(const Config& config, const Credentials& credentials);
};

}  // namespace hostler::lxd
