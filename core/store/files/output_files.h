#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"

namespace hostler::store {

/// An output file of an attempt, as its host reports it.
struct OutputFile {
  std::string path;  ///< Relative, safe: is_safe_path().
  std::uint64_t size = 0;
  std::uint32_t mode = 0;    ///< Permission bits.
  std::string problem = {};  ///< Not empty: why it is not collected.
  friend bool operator==(const OutputFile&, const OutputFile&) = default;
};

/// The list of an attempt's files, stored as "files" in its folder. The files themselves are stored
/// under their numbers, so no name on this disk was chosen by a host.
std::string to_json(const std::vector<OutputFile>& files);
Result<std::vector<OutputFile>> output_files_from_json(std::string_view text);

/// kInvalidArgument or kTooLarge if a path is unsafe or there twice, or if there are too many; the
/// message names the path.
Result<void> check_output_files(const std::vector<OutputFile>& files, std::size_t files_max);

}  // namespace hostler::store
