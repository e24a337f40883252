#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/config/config.h"

namespace hostler::daemon {

struct Options {
  std::vector<std::string> take_over_sets;
  bool restored = false;                 ///< Go on from an old state; else it is only shown.
  std::uint64_t descriptors_max = 1024;  ///< The limit of open files.
};

/// All of hostlerd except its signals: creates the adapters, the loop and the API, and connects
/// them. Main thread only.
class Daemon {
 public:
  /// Locks the state folder, loads the drivers, restores the state from the store and serves
  /// requests. A driver that cannot be loaded closes its sets. After an error nothing is left
  /// running. Blocks for a second or so.
  static Result<std::unique_ptr<Daemon>> start(config::Config config, Options options);
  /// Stops all threads, in order, and makes durable what waits for it. Instances and jobs go on.
  ~Daemon();
  Daemon(const Daemon&) = delete;
  Daemon& operator=(const Daemon&) = delete;

  /// Applies a new configuration, if it could be read, and loads drivers that could not be loaded
  /// before. If it changes keys that need a restart, changes nothing and returns an error that
  /// names them. A refusal is shown in health, metrics and `why site` until a reload succeeds.
  Result<void> reload(Result<config::Config> fresh);

 private:
  struct Parts;
  Result<void> apply(config::Config fresh);
  explicit Daemon(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace hostler::daemon
