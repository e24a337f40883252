#pragma once

#include <spawn.h>

#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/base/files.h"

namespace hostler {

/// Settings for posix_spawn: the process has a process group of its own, no blocked signals, and
/// the default action for every signal. Owns the objects that posix_spawn needs.
class SpawnSettings {
 public:
  SpawnSettings();
  ~SpawnSettings();
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;

  [[nodiscard]] const posix_spawnattr_t* attributes() const { return &attributes_; }
  [[nodiscard]] posix_spawn_file_actions_t* actions() { return &actions_; }

 private:
  posix_spawnattr_t attributes_{};
  posix_spawn_file_actions_t actions_{};
};

/// The array that posix_spawn and exec want, with a null pointer at its end. `texts` must outlive
/// it.
std::vector<char*> to_pointers(std::vector<std::string>& texts);

struct Pipe {
  UniqueFd read, write;
};
/// A pipe whose end for reading does not block.
Result<Pipe> make_pipe();

}  // namespace hostler
