#include "core/agent/host/system/trees.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <string>
#include <string_view>

#include "core/agent/host/system/os.h"

namespace hostler::agent {
namespace {

struct CloseDir {
  void operator()(DIR* dir) const { ::closedir(dir); }
};
using Dir = std::unique_ptr<DIR, CloseDir>;

Dir open_dir(int at, const char* name) {
  constexpr int kFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  UniqueFd fd(::openat(at, name, kFlags));
  if (!fd && errno == EACCES && ::fchmodat(at, name, 0700, AT_SYMLINK_NOFOLLOW) == 0)
    fd.reset(::openat(at, name, kFlags));
  if (!fd) return nullptr;
  // A folder that its owner made unwritable; as root this changes nothing.
  (void)::fchmod(fd.get(), 0700);
  Dir dir(::fdopendir(fd.get()));
  if (dir) (void)fd.release();
  return dir;
}

bool remove_one(int at, const char* name) {
  return ::unlinkat(at, name, 0) == 0 || ::unlinkat(at, name, AT_REMOVEDIR) == 0;
}

/// Empties `top`. A folder in it that is not empty is emptied first, and folders in that one which
/// are not empty are moved up into `top`: a tree of any depth needs two open folders.
class Emptier {
 public:
  explicit Emptier(DIR* top) : top_(top), fd_(::dirfd(top)) {}

  /// Every round that achieves anything leaves less, or the same less deep.
  void run() {
    do {
      achieved_ = false;
      ::rewinddir(top_);
      each(top_, [this](const char* name) { remove(name); });
    } while (achieved_);
  }

 private:
  template <class Visit>
  static void each(DIR* dir, Visit visit) {
    while (const dirent* entry = ::readdir(dir)) {
      const std::string_view name = entry->d_name;
      if (name != "." && name != "..") visit(entry->d_name);
    }
  }

  void remove(const char* name) {
    if (remove_one(fd_, name)) {
      achieved_ = true;
      return;
    }
    const Dir dir = open_dir(fd_, name);
    if (!dir) return;
    const int inner = ::dirfd(dir.get());
    each(dir.get(), [&](const char* entry) {
      if (remove_one(inner, entry) || move_up(inner, entry)) achieved_ = true;
    });
    if (::unlinkat(fd_, name, AT_REMOVEDIR) == 0) achieved_ = true;
  }

  bool move_up(int from, const char* name) {
    struct stat info {};
    if (::fstatat(from, name, &info, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISDIR(info.st_mode))
      return false;
    for (;;) {
      const std::string up = "up." + std::to_string(moved_++);
      if (move_tree(from, name, fd_, up.c_str())) return true;
      // A removal that was cut short may have left that name.
      if (errno != ENOTEMPTY && errno != EEXIST && errno != ENOTDIR) return false;
    }
  }

  DIR* const top_;
  const int fd_;
  bool achieved_ = false;
  unsigned long moved_ = 0;
};

}  // namespace

void empty_folder(const char* path) {
  if (const Dir dir = open_dir(AT_FDCWD, path)) Emptier(dir.get()).run();
}

bool move_tree(int at, const char* name, int to, const char* new_name) {
  if (::renameat(at, name, to, new_name) == 0) return true;
  return errno == EACCES && ::fchmodat(at, name, 0700, AT_SYMLINK_NOFOLLOW) == 0 &&
         ::renameat(at, name, to, new_name) == 0;
}

}  // namespace hostler::agent
