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
  // The job may have made the folder read-only. (For root that would not matter.)
  (void)::fchmod(fd.get(), 0700);
  Dir dir(::fdopendir(fd.get()));
  if (dir) (void)fd.release();
  return dir;
}

bool remove_one(int at, const char* name) {
  return ::unlinkat(at, name, 0) == 0 || ::unlinkat(at, name, AT_REMOVEDIR) == 0;
}

/// Empties the folder `top`. Each folder in `top` is emptied; folders inside it that are not empty
/// are moved up into `top`. So at most two folders are open at a time, whatever the depth.
class Emptier {
 public:
  explicit Emptier(DIR* top) : top_(top), fd_(::dirfd(top)) {}

  /// Repeats until a round changes nothing. Each round removes entries or reduces their depth.
  void run() {
    do {
      progress_ = false;
      ::rewinddir(top_);
      each(top_, [this](const char* name) { remove(name); });
    } while (progress_);
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
      progress_ = true;
      return;
    }
    const Dir dir = open_dir(fd_, name);
    if (!dir) return;
    const int inner = ::dirfd(dir.get());
    each(dir.get(), [&](const char* entry) {
      if (remove_one(inner, entry) || move_up(inner, entry)) progress_ = true;
    });
    if (::unlinkat(fd_, name, AT_REMOVEDIR) == 0) progress_ = true;
  }

  bool move_up(int from, const char* name) {
    struct stat info {};
    if (::fstatat(from, name, &info, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISDIR(info.st_mode))
      return false;
    for (;;) {
      const std::string up = "up." + std::to_string(moved_++);
      if (move_tree(from, name, fd_, up.c_str())) return true;
      // An earlier removal that was interrupted may have left an entry of this name.
      if (errno != ENOTEMPTY && errno != EEXIST && errno != ENOTDIR) return false;
    }
  }

  DIR* const top_;
  const int fd_;
  bool progress_ = false;
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
