#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/base/files.h"
#include "core/store/connect.h"

namespace hostler::store {

/// The folders of a state folder that a backup has; rows are in "hostler.db" on both engines.
inline constexpr const char* kBackedUpFolders[] = {"blobs", "keys", "segments", "spool"};
/// The last file of a backup: without it the backup is not whole.
inline constexpr const char* kBackupEnd = "backup.json";

/// A consistent copy of a store that is in use, as a tar archive. The rows are copied first; the
/// files that they name were complete before, and stay while the object lives, as `tidying` is true
/// then. It holds secrets. Threads: one at a time; calls block on the disk.
class Backup {
 public:
  /// Copies the rows to a file in the state folder, which needs their room there; the file has no
  /// name any more when this returns. kUnavailable: `tidying` is true already.
  static Result<std::unique_ptr<Backup>> begin(const Place& place,
                                               std::shared_ptr<std::atomic<bool>> tidying);
  ~Backup() { *tidying_ = false; }
  Backup(const Backup&) = delete;
  Backup& operator=(const Backup&) = delete;

  /// The next bytes, about 256 KiB. Empty: the archive has ended. After an error it cannot go on.
  Result<std::string> next();

 private:
  Backup(Place place, std::shared_ptr<std::atomic<bool>> tidying)
      : place_(std::move(place)), tidying_(std::move(tidying)) {}
  Result<void> copy_database();
  Result<void> list_files();
  /// Adds the header of the next file, or the end of the archive.
  Result<void> begin_file(std::string& out);
  void open_file(UniqueFd file, std::uint64_t size, const std::string& name, std::string& out);
  void add_end(std::string& out);

  const Place place_;
  const std::shared_ptr<std::atomic<bool>> tidying_;
  UniqueFd rows_;
  std::vector<std::string> names_;  ///< Of files, the next one last; relative to the state folder.
  UniqueFd file_;                   ///< Being sent.
  std::string name_;
  std::uint64_t left_ = 0, size_ = 0;
  std::uint64_t files_ = 0;  ///< That were sent.
  bool ended_ = false;
};

}  // namespace hostler::store
