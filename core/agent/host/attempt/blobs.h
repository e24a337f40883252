#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "core/agent/host/system/os.h"
#include "core/agent/host/system/sha256.h"
#include "core/agent/protocol.h"

namespace hostler::agent {

/// True for 64 lower-case hex digits: the only names that blobs have.
bool is_sha256(std::string_view text);
/// "blobs/<sha256>"
std::string blob_path(const std::string& sha256);

/// Input files kept by their content, least recently used out first. A piece at a time comes in;
/// what does not hash to its name is not kept.
class Blobs {
 public:
  /// Makes the folder if need be and counts what is there; unfinished ones are removed.
  Result<void> open();
  void set_max(std::uint64_t bytes) { max_ = bytes; }

  /// Marks it as used now.
  bool has(const std::string& sha256);
  /// Takes one piece. An answer is due when the result has a value: the last piece, or a refusal.
  std::optional<BlobState> put(const BlobPut& piece);
  /// The connection has ended: what began to come in on it will not be continued.
  void drop_coming();

 private:
  struct Coming {
    UniqueFd fd;
    std::uint64_t size = 0;
    std::uint64_t have = 0;
    std::uint64_t synced = 0;
    Sha256 hash;
  };
  struct Kept {
    std::uint64_t size = 0;
    std::uint64_t used = 0;  ///< Rises with every use.
  };

  Result<bool> take(const BlobPut& piece);
  void make_room(std::uint64_t size);

  std::uint64_t max_ = std::uint64_t{10} << 30;
  std::uint64_t bytes_ = 0;
  std::uint64_t clock_ = 0;
  std::map<std::string, Kept> kept_;
  std::map<std::string, Coming> coming_;
};

}  // namespace hostler::agent
