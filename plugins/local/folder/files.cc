#include "folder/files.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <memory>
#include <system_error>

#include "fd.h"

namespace hostler::local {
namespace {

struct CloseDir {
  void operator()(DIR* dir) const { ::closedir(dir); }
};
using Dir = std::unique_ptr<DIR, CloseDir>;

Dir open_dir_at(int at, const char* name) {
  const int fd = ::openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0) return nullptr;
  DIR* dir = ::fdopendir(fd);
  if (dir == nullptr) ::close(fd);
  return Dir(dir);
}

std::vector<std::string> entries(DIR* dir) {
  std::vector<std::string> names;
  while (const dirent* entry = ::readdir(dir)) {
    const std::string name = entry->d_name;
    if (name != "." && name != "..") names.push_back(name);
  }
  return names;
}

bool is_folder_at(int at, const std::string& name) {
  struct stat st {};
  return ::fstatat(at, name.c_str(), &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode);
}

/// Lets us enter the folder and change it. Whoever opens or moves it next notices a failure.
void unlock_folder(int at, const std::string& name) {
  [[maybe_unused]] const int failed = ::fchmodat(at, name.c_str(), 0700, 0);
}

/// Removes the folder `top`/`name` and its content. Moves sub-folders that are not empty up into
/// `top`, so that at most two folders are open at a time, whatever the depth.
void flatten(int top, const std::string& name, const std::string& path, std::size_t& moved) {
  unlock_folder(top, name);
  const Dir dir = open_dir_at(top, name.c_str());
  if (!dir) throw_errno("open", path + "/" + name);
  const int fd = ::dirfd(dir.get());
  for (const std::string& entry : entries(dir.get())) {
    if (::unlinkat(fd, entry.c_str(), 0) == 0 || errno == ENOENT) continue;
    if (!is_folder_at(fd, entry)) throw_errno("remove", path + "/" + name + "/" + entry);
    if (::unlinkat(fd, entry.c_str(), AT_REMOVEDIR) == 0) continue;
    unlock_folder(fd, entry);  // a rename changes its ".." entry
    // An earlier removal that was interrupted may have left folders of this name.
    int failed = 0;
    do {
      const std::string up = ".removing-" + std::to_string(moved++);
      failed = ::renameat(fd, entry.c_str(), top, up.c_str());
    } while (failed != 0 && (errno == ENOTEMPTY || errno == EEXIST || errno == ENOTDIR));
    if (failed != 0) throw_errno("remove", path + "/" + name + "/" + entry);
  }
  if (::unlinkat(top, name.c_str(), AT_REMOVEDIR) != 0 && errno != ENOENT)
    throw_errno("remove", path + "/" + name);
}

/// Removes the content of the folder once, except `last`. True if there was any content.
bool empty_once(DIR* dir, const std::string& path, const std::vector<std::string>& last,
                std::size_t& moved) {
  bool any = false;
  ::rewinddir(dir);
  const int fd = ::dirfd(dir);
  for (const std::string& name : entries(dir)) {
    if (std::find(last.begin(), last.end(), name) != last.end()) continue;
    any = true;
    if (::unlinkat(fd, name.c_str(), 0) == 0 || errno == ENOENT) continue;
    if (!is_folder_at(fd, name)) throw_errno("remove", path + "/" + name);
    flatten(fd, name, path, moved);
  }
  return any;
}

}  // namespace

void throw_errno(const std::string& what, const std::string& path) {
  throw std::system_error(errno, std::generic_category(), "cannot " + what + " " + path);
}

std::optional<std::string> read_file(const std::string& path) {
  const driver::Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!fd) {
    if (errno == ENOENT) return std::nullopt;
    throw_errno("open", path);
  }
  std::string text;
  char buffer[4096];
  for (;;) {
    const ssize_t n = ::read(fd.get(), buffer, sizeof buffer);
    if (n == 0) return text;
    if (n > 0) {
      text.append(buffer, static_cast<std::size_t>(n));
    } else if (errno != EINTR) {
      throw_errno("read", path);
    }
  }
}

Tail read_tail(const std::string& path, std::uint64_t from, std::size_t max) {
  const driver::Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!fd && errno == ENOENT) return {};
  struct stat st {};
  if (!fd || ::fstat(fd.get(), &st) != 0) throw_errno("open", path);
  const auto size = static_cast<std::uint64_t>(st.st_size);
  Tail tail;
  tail.offset = std::max(std::min(from, size), size - std::min<std::uint64_t>(max, size));
  tail.text.resize(size - tail.offset);
  std::size_t filled = 0;
  while (filled < tail.text.size()) {
    const ssize_t n = ::pread(fd.get(), tail.text.data() + filled, tail.text.size() - filled,
                              static_cast<off_t>(tail.offset + filled));
    if (n == 0) break;  // it was cut meanwhile
    if (n < 0 && errno != EINTR) throw_errno("read", path);
    if (n > 0) filled += static_cast<std::size_t>(n);
  }
  tail.text.resize(filled);
  return tail;
}

void write_file(const std::string& path, std::string_view text, unsigned mode) {
  static std::atomic<unsigned> counter{0};
  const std::string beside =
      path + ".new-" + std::to_string(::getpid()) + "-" + std::to_string(counter++);
  {
    const driver::Fd fd(
        ::open(beside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!fd) throw_errno("create", beside);
    while (!text.empty()) {
      const ssize_t n = ::write(fd.get(), text.data(), text.size());
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) {
        const int error = errno;
        ::unlink(beside.c_str());
        errno = error;
        throw_errno("write", beside);
      }
      text.remove_prefix(static_cast<std::size_t>(n));
    }
    if (mode != 0600) ::fchmod(fd.get(), mode);
  }
  if (::rename(beside.c_str(), path.c_str()) == 0) return;
  const int error = errno;
  ::unlink(beside.c_str());
  errno = error;
  throw_errno("replace", path);
}

bool make_folder(const std::string& path, unsigned mode) {
  if (::mkdir(path.c_str(), mode) == 0) {
    if (::chmod(path.c_str(), mode) != 0) throw_errno("set the mode of", path);
    return true;
  }
  if (errno != EEXIST) throw_errno("make", path);
  return false;
}

bool is_there(const std::string& path) {
  struct stat st {};
  if (::lstat(path.c_str(), &st) == 0) return true;
  if (errno == ENOENT || errno == ENOTDIR) return false;
  throw_errno("inspect", path);
}

std::vector<std::string> names_in(const std::string& folder) {
  const Dir dir = open_dir_at(AT_FDCWD, folder.c_str());
  if (!dir) {
    if (errno == ENOENT) return {};
    throw_errno("open", folder);
  }
  return entries(dir.get());
}

void remove_tree(const std::string& folder, const std::vector<std::string>& last) {
  const Dir dir = open_dir_at(AT_FDCWD, folder.c_str());
  if (!dir) {
    if (errno == ENOENT) return;
    throw_errno("open", folder);
  }
  std::size_t moved = 0;
  for (int rounds = 0;;) {
    while (empty_once(dir.get(), folder, last, moved)) {
    }
    for (const std::string& name : last) ::unlinkat(::dirfd(dir.get()), name.c_str(), 0);
    if (::rmdir(folder.c_str()) == 0 || errno == ENOENT) return;
    // Another process may have created a file meanwhile. Try a few times before it is an error.
    if (errno != ENOTEMPTY || ++rounds == 5) throw_errno("remove", folder);
  }
}

}  // namespace hostler::local
