#pragma once

#include <memory>
#include <string>

#include "core/plugin_host/driver_set.h"
#include "core/tap/recording_file.h"

namespace hostler::tap {

/// The same set, whose calls are recorded in the file. Nothing else about it changes: it may run in
/// this process or in one of its own.
///
/// A call's request is written down before it is sent, and its line when it ends, on the set's
/// completion thread. `driver_version`: for the lines of `open`.
std::unique_ptr<plugin_host::DriverSet> record(std::unique_ptr<plugin_host::DriverSet> set,
                                               std::shared_ptr<RecordingFile> file,
                                               std::string driver_version);

}  // namespace hostler::tap
