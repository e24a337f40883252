#pragma once

#include <cstddef>
#include <cstdint>

#include "core/config/config.h"

/// How the file descriptors that hostlerd may open are shared, so that clients and hosts cannot
/// take those that the store, the drivers' processes and the event loops need.
namespace hostler::daemon {

struct DescriptorShares {
  std::size_t spool_files = 0;  ///< That the output writer keeps open.
  unsigned hosts = 0;           ///< Of connections to hosts; one through a jump host takes two.
  unsigned connections = 0;     ///< Of clients, of each api::Connections::Kind.
};

/// Raises the soft limit to what suffices for large sites, as far as it may. Returns the limit.
std::uint64_t raise_descriptor_limit();

/// kInvalidArgument: `limit` is too low for the configuration; the message says what it needs.
Result<DescriptorShares> share_descriptors(const config::Config& config, std::uint64_t limit);

/// Lowers the site's ceiling of instances to those that can be connected, if its pools may have
/// more, and logs that: a host that is never reached costs money for nothing.
void bound_instances(model::SitePolicy& site, const config::Config& config,
                     const DescriptorShares& shares);

}  // namespace hostler::daemon
