#pragma once

#include "core/dispatch/state/hosts.h"
#include "core/dispatch/state/recorder.h"

namespace hostler::dispatch {

/// A host of the next number, not yet added to `hosts`.
[[nodiscard]] Host new_host(const model::SitePolicy& policy, const Hosts& hosts,
                            const Recorder& recorder, std::uint32_t set, std::uint32_t pool,
                            Now now);

/// It is the machine that the record names, or the instance that has come of that spot request.
[[nodiscard]] bool is_recorded(const model::InstanceRecord& record,
                               const model::ListedInstance& seen);

}  // namespace hostler::dispatch
