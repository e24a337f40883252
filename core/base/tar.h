#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/error.h"

/// The headers of a tar archive of regular files (POSIX ustar; sizes over 8 GiB as GNU tar
/// writes them). Each file is its header, its bytes and zeros up to a multiple of kBlock; two
/// blocks of zeros end the archive.
namespace hostler::tar {

inline constexpr std::size_t kBlock = 512, kNameMax = 100;

struct Entry {
  std::string name;  ///< At most kNameMax bytes.
  std::uint64_t size = 0;
};

/// One block. The file has the mode 0600.
std::string header(const Entry& entry);
/// The number of zeros after that many bytes.
constexpr std::size_t padding(std::uint64_t size) {
  return static_cast<std::size_t>((kBlock - size % kBlock) % kBlock);
}
/// nullopt: it is a block of zeros. kMisbehaving: it is not the header of a regular file.
Result<std::optional<Entry>> parse_header(std::string_view block);

}  // namespace hostler::tar
