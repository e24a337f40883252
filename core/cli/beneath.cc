#include "core/cli/beneath.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "core/base/text.h"
#include "core/crypto/random.h"

namespace hostler::cli {
namespace {

constexpr int kFolderFlags = O_RDONLY | O_DIRECTORY;

int openat2_folder(int base, const std::string& path) {
  open_how how{};
  how.flags = kFolderFlags | O_CLOEXEC;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_SYMLINKS;
  return static_cast<int>(::syscall(SYS_openat2, base, path.c_str(), &how, sizeof how));
}

Error folder_error(const std::string& path) {
  if (errno == ELOOP || errno == ENOTDIR)
    return {Errc::kConflict, path + " is a symbolic link or not a folder; remove it first"};
  return errno_error("open " + path, Errc::kInvalidArgument);
}

/// Makes one folder of a path, unless it exists.
Result<void> make(int in, const std::string& part, const std::string& path) {
  if (::mkdirat(in, part.c_str(), 0777) == 0 || errno == EEXIST) return {};
  return tl::unexpected(errno_error("create " + path, Errc::kInvalidArgument));
}

}  // namespace

OpenBy best_way() {
  const int fd = openat2_folder(AT_FDCWD, ".");
  const bool has_none = fd < 0 && (errno == ENOSYS || errno == EPERM);
  const UniqueFd opened(fd);
  return has_none ? OpenBy::kParts : OpenBy::kOpenat2;
}

Result<UniqueFd> make_folder_beneath(const UniqueFd& base, const std::string& path, OpenBy way) {
  UniqueFd folder(::openat(base.get(), ".", kFolderFlags | O_CLOEXEC));
  if (!folder) return tl::unexpected(errno_error("open the folder", Errc::kInvalidArgument));
  if (path.empty()) return folder;
  if (!is_safe_path(path))
    return fail(Errc::kMisbehaving, "the path " + printable(path, 200) + " leaves the folder");
  std::string so_far;
  for (const std::string_view piece : split(path, '/')) {
    const std::string part(piece);
    so_far += (so_far.empty() ? "" : "/") + part;
    HOSTLER_TRY(make(folder.get(), part, so_far));
    const int next = way == OpenBy::kOpenat2 ? openat2_folder(base.get(), so_far)
                                             : ::openat(folder.get(), part.c_str(),
                                                        kFolderFlags | O_NOFOLLOW | O_CLOEXEC);
    if (next < 0) return tl::unexpected(folder_error(so_far));
    folder.reset(next);
  }
  return folder;
}

Result<FileBeneath> FileBeneath::create(const UniqueFd& base, const std::string& path, OpenBy way) {
  if (!is_safe_path(path))
    return fail(Errc::kMisbehaving, "the path " + printable(path, 200) + " leaves the folder");
  const std::size_t slash = path.rfind('/');
  const bool is_deep = slash != std::string::npos;
  auto folder =
      HOSTLER_TRY(make_folder_beneath(base, is_deep ? path.substr(0, slash) : std::string(), way));
  FileBeneath out(std::move(folder), is_deep ? path.substr(slash + 1) : path, path);
  const std::string part = ".hostler-fetch." + crypto::random_hex(8) + ".part";
  // O_EXCL: a new file, never a link or file that is already there.
  out.file_.reset(::openat(out.folder_.get(), part.c_str(),
                           O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666));
  if (!out.file_)
    return tl::unexpected(errno_error("create a file for " + path, Errc::kInvalidArgument));
  out.part_ = part;
  return out;
}

FileBeneath::~FileBeneath() {
  if (folder_ && !part_.empty()) ::unlinkat(folder_.get(), part_.c_str(), 0);
}

Result<void> FileBeneath::finish() {
  struct stat info {};
  if (::fstatat(folder_.get(), name_.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0) {
    if (S_ISLNK(info.st_mode))
      return fail(Errc::kConflict, path_ + " is a symbolic link; remove it first");
    if (S_ISDIR(info.st_mode))
      return fail(Errc::kConflict, path_ + " is a folder; remove it first");
  }
  if (::close(file_.release()) != 0) return tl::unexpected(errno_error("write " + path_));
  // A symbolic link that somebody makes meanwhile is replaced by the file, and not followed.
  if (::renameat(folder_.get(), part_.c_str(), folder_.get(), name_.c_str()) != 0)
    return tl::unexpected(errno_error("rename " + path_, Errc::kInvalidArgument));
  part_.clear();
  return {};
}

}  // namespace hostler::cli
