#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/base/mutex.h"
#include "core/dispatch/events.h"
#include "core/metrics/metrics.h"
#include "core/model/views.h"
#include "core/plugin_host/driver_set.h"
#include "core/plugin_host/manifest.h"

namespace hostler::daemon {

/// One instance set of the configuration.
struct SetSource {
  std::string name, driver;
  std::string config_json = "{}";
  std::string credentials_json;  ///< Secret.
  model::Tags tags;
  bool in_process = false;  ///< The driver runs in this process, not in one of its own.
  std::string sandbox;      ///< "full", "files", "none"; empty: the default of the driver.
};

/// Where drivers are looked for, and which are allowed.
struct DriverSource {
  std::vector<std::filesystem::path> path;  ///< Before the folders of plugin_host.
  plugin_host::DriverRules rules;
  std::string host_program;  ///< hostler-driver-host.
};

/// Every instance set with its driver. Calls may come from any thread and return at once; the
/// answers of the clouds are posted as events, and counted.
class Clouds {
 public:
  using Post = std::function<void(dispatch::Event)>;

  Clouds(std::vector<SetSource> sets, DriverSource drivers, metrics::Metrics& metrics, Post post);
  /// Finds and loads the drivers of the sets that have none yet. A set whose driver cannot be
  /// loaded is closed, and to open it fails with the reason: driver, file and problem. Runs code of
  /// the drivers, and blocks on it and on files; one thread at a time.
  void load_drivers();
  /// Posts which driver each set has: before its first call, and after load_drivers().
  void announce_drivers() const;
  /// Holds a set's `config` against the schema of its driver. Success also if that cannot be done.
  /// Blocks on files.
  [[nodiscard]] Result<void> check_config(const std::string& driver,
                                          const std::string& config_json) const;
  /// Ends the calls under way; instances stay. Blocks until the drivers' threads have ended.
  ~Clouds() = default;

  void execute(const dispatch::OpenSet& effect);
  void execute(const dispatch::UseSet& effect);
  void execute(const dispatch::CreateCall& effect);
  void execute(const dispatch::ListCall& effect);
  void execute(const dispatch::LookUpCall& effect);
  void execute(const dispatch::DestroyCall& effect);
  void execute(const dispatch::TagsCall& effect);
  void execute(const dispatch::PowerCall& effect);
  void execute(const dispatch::PricesCall& effect);
  void execute(const dispatch::QuotaGroupCall& effect);

  /// The driver of a set, as it is now. Any thread.
  [[nodiscard]] model::DriverView driver(const std::string& set) const;

  /// Asks a set's driver whether the key belongs to the instance; refused while the set may not be
  /// used. Calls `vouched` once, on a thread of the set or at once.
  void verify_host_key(const std::string& set, plugin_host::HostKeyCheck check,
                       std::function<void(model::CloudResult<bool>)> vouched);

 private:
  struct Set {
    SetSource source;
    mutable Mutex mutex;
    std::shared_ptr<plugin_host::DriverSet> driver HOSTLER_GUARDED_BY(mutex);
    std::atomic<bool> usable = false;  ///< As UseSet says.
    // Of the thread that loads drivers.
    bool has_driver = false;
    model::DriverFile file;
  };

  [[nodiscard]] Set& named(const std::string& name);
  /// Its driver: one that refuses all calls, if it could not be loaded.
  [[nodiscard]] static std::shared_ptr<plugin_host::DriverSet> driver_of(const Set& set);

  metrics::Metrics& metrics_;
  const Post post_;
  const DriverSource drivers_;
  std::map<std::string, Set> sets_;  ///< Always has the same sets.
};

}  // namespace hostler::daemon
