#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/config/config.h"

namespace hostler::daemon {

struct Options {
  std::vector<std::string> take_over_sets;
};

/// The whole of hostlerd but its signals: adapters, loop and API, wired together.
class Daemon {
 public:
  /// Takes the state folder, loads the drivers, adopts what the journal knew and serves. An error
  /// says what could not be had; nothing is left running then. Blocking, a second or so.
  static Result<std::unique_ptr<Daemon>> start(config::Config config, Options options);
  /// Ends in order; instances and jobs go on.
  ~Daemon();
  Daemon(const Daemon&) = delete;
  Daemon& operator=(const Daemon&) = delete;

  /// Takes a new config over if it changes only what can change; else an error that names the keys
  /// that need a restart, and nothing has changed.
  Result<void> reload(config::Config fresh);

 private:
  struct Parts;
  explicit Daemon(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace hostler::daemon
