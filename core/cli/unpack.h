#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "core/base/error.h"
#include "core/base/files.h"

namespace hostler::cli {

/// Writes the files of a backup, as its bytes come, into a folder that it makes (0700; files 0600).
/// The archive is not trusted: names stay beneath the folder, and no file is written twice.
/// Destroyed before finish() it removes what it made.
class Unpack {
 public:
  /// kConflict: there is something already.
  static Result<Unpack> into(const std::filesystem::path& folder);
  ~Unpack();
  Unpack(Unpack&& other) noexcept = default;
  Unpack& operator=(Unpack&&) = delete;

  Result<void> take(std::string_view bytes);
  /// Makes it durable under its name. kUnavailable: the archive is not whole.
  Result<void> finish();
  [[nodiscard]] std::uint64_t files() const { return files_; }
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }

 private:
  explicit Unpack(std::filesystem::path folder);
  Result<void> begin_entry();

  std::filesystem::path folder_;  ///< Empty: there is nothing to remove.
  std::filesystem::path part_;    ///< Where it is written: a name beside it.
  std::string header_;            ///< Bytes of the block that is being read.
  std::string name_;
  UniqueFd file_;
  std::uint64_t left_ = 0, padding_ = 0, files_ = 0, bytes_ = 0;
  bool has_end_ = false;  ///< The file that only a whole backup has was written.
  bool ended_ = false;    ///< Both: the archive's end was read.
};

}  // namespace hostler::cli
