#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>

#include "core/base/mutex.h"
#include "core/config/config.h"
#include "core/dispatch/events.h"
#include "core/sources/collector.h"
#include "core/sources/sample_file.h"

namespace hostler::daemon {

/// What expressions of pools need from outside, as events: readings of metrics, their past from
/// before a restart, and time zones.
class MetricInputs {
 public:
  /// Blocks to open the file of samples in the state folder. `owner`: the id of the store. `post`
  /// may be called on any thread.
  MetricInputs(const std::filesystem::path& state_dir, const std::string& owner,
               std::function<void(dispatch::Event)> post);

  /// Tells the past and the zones, and then begins to read. Once. Blocks to read files.
  void begin(const config::Config& config);
  /// Goes on with other sources. Blocks to read the system's time zones.
  void reload(const config::Config& config);
  /// Tells the zones again, as each telling covers a limited time. Blocks as above.
  void tell_zones(const model::SitePolicy& policy) const;

 private:
  /// A reading as the file keeps it.
  [[nodiscard]] model::MetricReading for_file(model::MetricReading reading);

  const std::function<void(dispatch::Event)> post_;
  sources::SampleFile samples_;
  Mutex mutex_;
  std::map<std::string, model::MetricPolicy> policies_ HOSTLER_GUARDED_BY(mutex_);
  sources::Collector collector_;  ///< After the file, which it appends to.
};

}  // namespace hostler::daemon
