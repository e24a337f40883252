#pragma once

#include "core/dispatch/state/hosts.h"
#include "core/dispatch/state/recorder.h"

namespace hostler::dispatch {

/// A new host with the next id of `hosts`, to which it is not added yet.
[[nodiscard]] Host new_host(const model::SitePolicy& policy, const Hosts& hosts,
                            const Recorder& recorder, std::uint32_t set, std::uint32_t pool,
                            Now now);

/// True if `seen` is the machine in the record, or the instance made for its spot request. A host
/// that was ready is a machine, and no request, unless a list has shown its request again since.
[[nodiscard]] bool is_recorded(const model::InstanceRecord& record,
                               const model::ListedInstance& seen);

}  // namespace hostler::dispatch
