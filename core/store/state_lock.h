#pragma once

#include <filesystem>

#include "core/base/error.h"
#include "core/base/files.h"

namespace hostler::store {

/// Allows one daemon per state folder. Held until destroyed; the kernel releases it when the
/// process ends in any way.
class StateLock {
 public:
  /// kConflict if another process holds it; the message names the process.
  static Result<StateLock> take(const std::filesystem::path& file);

 private:
  explicit StateLock(UniqueFd fd) : fd_(std::move(fd)) {}
  UniqueFd fd_;
};

}  // namespace hostler::store
