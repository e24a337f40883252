#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "core/base/error.h"
#include "core/base/files.h"
#include "core/store/database.h"

namespace hostler::store {

/// The file `known` in the state folder: the highest numbers that were durable. Rows that have
/// lower ones are of an older state that was put back. No backup has the file.
class Known {
 public:
  /// Makes the file if it is not there. A damaged one tells nothing.
  static Result<Known> open(const std::filesystem::path& folder);

  /// Why the rows are old: the file knows higher numbers, or load_backup() made this folder. Empty:
  /// they are not.
  Result<std::string> why_old(Connection& connection) const;
  /// Lets go on from old rows: raises their epoch by a thousand and the numbers of work and
  /// instances by a million, above what may have been given out.
  Result<void> accept(Connection& connection);
  /// The rows of `connection` are the newest from now on. Durable.
  Result<void> begin(Connection& connection);
  /// Everything up to `revision` is durable. A write without a sync.
  void note(std::uint64_t revision);

 private:
  Known(std::filesystem::path folder, UniqueFd fd)
      : folder_(std::move(folder)), fd_(std::move(fd)) {}
  [[nodiscard]] std::string line() const;

  std::filesystem::path folder_;
  UniqueFd fd_;
  std::string owner_;  ///< Empty: the file tells nothing.
  std::uint64_t epoch_ = 0, revision_ = 0;
};

inline constexpr const char* kRestoredMark = "restored";  ///< Left by load_backup().

}  // namespace hostler::store
