#pragma once

#include <functional>
#include <memory>

#include "core/daemon/clouds.h"
#include "core/daemon/notifier.h"
#include "core/dispatch/events.h"
#include "core/hosts/settings.h"
#include "core/metrics/metrics.h"
#include "core/store/store.h"

namespace hostler::daemon {

/// Connects the links to hosts with the store, the clouds and the metrics. All arguments must
/// outlive the ports.
hosts::HostPorts make_host_ports(std::function<void(dispatch::Event)> post, store::Store& store,
                                 Clouds& clouds, metrics::Metrics& metrics,
                                 std::shared_ptr<Notifier<model::WorkId>> output);

}  // namespace hostler::daemon
