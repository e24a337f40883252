#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"

namespace hostler::store {

/// A file that an attempt left, as its host says.
struct OutputFile {
  std::string path;  ///< Relative, safe: is_safe_path().
  std::uint64_t size = 0;
  std::uint32_t mode = 0;    ///< Permission bits.
  std::string problem = {};  ///< Not empty: it is not collected, and why.
  friend bool operator==(const OutputFile&, const OutputFile&) = default;
};

/// The list of an attempt's files, "files" in its folder. The files themselves lie there under
/// their numbers, so no name that a host chose is ever one on this disk.
std::string to_json(const std::vector<OutputFile>& files);
Result<std::vector<OutputFile>> output_files_from_json(std::string_view text);

/// kInvalidArgument or kTooLarge, naming the path: unsafe, twice there, or too many.
Result<void> check_output_files(const std::vector<OutputFile>& files, std::size_t files_max);

}  // namespace hostler::store
