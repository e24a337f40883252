#pragma once

#include <filesystem>

#include "core/base/error.h"
#include "core/base/files.h"

namespace hostler::store {

/// One daemon a state folder. Held until destroyed; the kernel lets go of it when the process ends,
/// however it ends.
class StateLock {
 public:
  /// kConflict, naming the process that holds it, if another does.
  static Result<StateLock> take(const std::filesystem::path& file);

 private:
  explicit StateLock(UniqueFd fd) : fd_(std::move(fd)) {}
  UniqueFd fd_;
};

}  // namespace hostler::store
