#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "core/base/error.h"
#include "core/base/files.h"

/// Files that are written beneath a folder, whatever names somebody else gives them. No path leads
/// out of the folder: not by "..", not by an absolute path, and not by a symbolic link that is in
/// the folder or comes into it meanwhile.
namespace hostler::cli {

/// How folders are opened: with openat2(), or by one openat() for each part of the path, for
/// kernels and sandboxes without openat2().
enum class OpenBy : std::uint8_t { kOpenat2, kParts };

/// The way that this kernel takes.
OpenBy best_way();

/// Opens the folder `path` beneath `base`, and makes what is missing of it. An empty path is `base`
/// itself. kMisbehaving: the path is none of a file beneath a folder. kConflict: a part of it is a
/// symbolic link or no folder.
Result<UniqueFd> make_folder_beneath(const UniqueFd& base, const std::string& path, OpenBy way);

/// A new file that replaces `path` beneath `base` when it is complete. Destroyed without finish()
/// it leaves nothing but folders.
class FileBeneath {
 public:
  static Result<FileBeneath> create(const UniqueFd& base, const std::string& path,
                                    OpenBy way = best_way());
  FileBeneath(FileBeneath&&) = default;
  FileBeneath& operator=(FileBeneath&&) = default;
  ~FileBeneath();

  [[nodiscard]] int fd() const { return file_.get(); }
  /// kConflict: a folder or a symbolic link has the file's name.
  Result<void> finish();

 private:
  FileBeneath(UniqueFd folder, std::string name, std::string path)
      : folder_(std::move(folder)), name_(std::move(name)), path_(std::move(path)) {}

  UniqueFd folder_, file_;
  std::string name_, path_;
  std::string part_;  ///< Name while it is written; empty: there is none.
};

}  // namespace hostler::cli
