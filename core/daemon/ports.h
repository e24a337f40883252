#pragma once

#include <functional>
#include <memory>

#include "core/daemon/clouds.h"
#include "core/daemon/hub.h"
#include "core/hosts/settings.h"
#include "core/metrics/metrics.h"
#include "core/store/store.h"

namespace hostler::daemon {

/// Connects links to store, clouds and metrics, which do not know each other.
hosts::HostPorts make_host_ports(std::function<void(model::HostEvent)> post, store::Store& store,
                                 Clouds& clouds, metrics::Metrics& metrics,
                                 std::shared_ptr<Hub<model::WorkId>> output);

}  // namespace hostler::daemon
