#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "core/agent/host/system/os.h"
#include "core/agent/host/system/sha256.h"
#include "core/agent/protocol.h"

namespace hostler::agent {

/// True for 64 lower-case hex digits, the form of every blob name.
bool is_sha256(std::string_view text);
/// "blobs/<sha256>"
std::string blob_path(const std::string& sha256);

/// A cache of input files on the host. A blob is named by the sha256 of its content, arrives in
/// pieces, and is kept only if its content has that hash. The least recently used blobs are removed
/// first. Every call may block for disk writes.
class Blobs {
 public:
  /// Creates the folder `blobs` if needed, counts the blobs in it, and removes incomplete ones.
  Result<void> open();
  /// The total size of all blobs; used when the next blob is complete.
  void set_max(std::uint64_t bytes) { max_ = bytes; }

  /// Also marks the blob as used now.
  bool has(const std::string& sha256);
  /// Stores one piece. Returns the answer to send after the last piece or after an error; nullopt:
  /// no answer is needed.
  std::optional<BlobState> put(const BlobPut& piece);
  /// Removes incomplete blobs; call this when the connection that sent them has ended.
  void drop_incomplete();

 private:
  struct Incomplete {
    UniqueFd fd;
    std::uint64_t size = 0;
    std::uint64_t received = 0;
    std::uint64_t synced = 0;
    Sha256 hash;
  };
  struct Kept {
    std::uint64_t size = 0;
    std::uint64_t used = 0;  ///< Value of clock_ at the last use.
  };

  Result<bool> add_piece(const BlobPut& piece);
  Result<void> begin(const BlobPut& piece);
  Result<void> complete(const std::string& sha256, Incomplete& blob);
  void make_room(std::uint64_t size);

  std::uint64_t max_ = std::uint64_t{10} << 30;
  std::uint64_t bytes_ = 0;  ///< Of all kept blobs.
  std::uint64_t clock_ = 0;  ///< Counts uses.
  std::map<std::string, Kept> kept_;
  std::map<std::string, Incomplete> incomplete_;
};

}  // namespace hostler::agent
