#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/dispatch/events.h"
#include "core/metrics/metrics.h"
#include "core/plugin_host/driver_set.h"

namespace hostler::daemon {

/// One instance set of the configuration.
struct SetSource {
  std::string name, driver;
  std::string config_json = "{}";
  std::string credentials_json;  ///< Secret.
  model::Tags tags;
};

/// Every instance set with its driver. Calls may come from any thread and return at once; the
/// answers of the clouds are posted as events, and counted.
class Clouds {
 public:
  using Post = std::function<void(dispatch::Event)>;

  /// Finds and loads the drivers that the sets name. Errors name the set, the driver and the file.
  /// Blocks while it reads files.
  static Result<std::unique_ptr<Clouds>> load(std::vector<SetSource> sets,
                                              const std::vector<std::filesystem::path>& driver_path,
                                              metrics::Metrics& metrics, Post post);
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

  /// Asks a set's driver whether the key belongs to the instance; refused while the set may not be
  /// used. Calls `vouched` once, on a thread of the set or at once.
  void verify_host_key(const std::string& set, plugin_host::HostKeyCheck check,
                       std::function<void(model::CloudResult<bool>)> vouched);

 private:
  struct Set {
    SetSource source;
    std::unique_ptr<plugin_host::DriverSet> driver;
    std::atomic<bool> usable = false;  ///< As UseSet says.
  };
  Clouds(metrics::Metrics& metrics, Post post) : metrics_(metrics), post_(std::move(post)) {}

  [[nodiscard]] Set& named(const std::string& name);

  metrics::Metrics& metrics_;
  const Post post_;
  std::map<std::string, Set> sets_;  ///< Has the same sets after load().
};

}  // namespace hostler::daemon
