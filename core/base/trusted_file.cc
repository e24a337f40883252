#include "core/base/trusted_file.h"

#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

namespace hostler {
namespace {

namespace fs = std::filesystem;

constexpr int kLinksMax = 40;  // as the kernel
constexpr std::size_t kLinkBytesMax = 4096;
constexpr std::size_t kEntryMax = std::size_t{1} << 20U;  // of passwd and group

/// Calls a function such as getpwuid_r() with a buffer that is large enough.
template <class Entry, class Call>
std::optional<Entry> entry_of(std::vector<char>& buffer, const Call& call) {
  for (buffer.resize(4096); buffer.size() <= kEntryMax; buffer.resize(buffer.size() * 4)) {
    Entry entry{};
    Entry* found = nullptr;
    const int failed = call(&entry, buffer.data(), buffer.size(), &found);
    if (failed == ERANGE) continue;
    if (failed != 0 || found == nullptr) return std::nullopt;
    return entry;
  }
  return std::nullopt;
}

/// Looks at the users of this machine only: those of a directory cannot always be listed.
bool is_primary_group_of_another(gid_t group, uid_t user) {
  const std::unique_ptr<FILE, int (*)(FILE*)> file(std::fopen("/etc/passwd", "re"), std::fclose);
  if (!file) return false;
  for (;;) {
    std::vector<char> buffer;
    const auto entry =
        entry_of<passwd>(buffer, [&](passwd* out, char* text, std::size_t size, passwd** found) {
          return ::fgetpwent_r(file.get(), out, text, size, found);
        });
    if (!entry) return false;
    if (entry->pw_gid == group && entry->pw_uid != user) return true;
  }
}

/// A group of this user alone, which some systems make for each user: its umask is 002 then.
bool is_private_group(gid_t group) {
  const uid_t user = ::geteuid();
  if (user == 0) return false;
  std::vector<char> user_text, group_text;
  const auto its =
      entry_of<passwd>(user_text, [&](passwd* out, char* text, std::size_t size, passwd** found) {
        return ::getpwuid_r(user, out, text, size, found);
      });
  const auto entry = entry_of<::group>(
      group_text, [&](::group* out, char* text, std::size_t size, ::group** found) {
        return ::getgrgid_r(group, out, text, size, found);
      });
  if (!its || !entry || its->pw_gid != group) return false;
  const std::string name = its->pw_name;
  if (name != entry->gr_name) return false;
  for (char** member = entry->gr_mem; *member != nullptr; ++member)
    if (name != *member) return false;
  return !is_primary_group_of_another(group, user);
}

/// Why somebody else could change it; empty: nobody can.
std::string distrust(const struct stat& info) {
  const uid_t user = ::geteuid();
  if (info.st_uid != 0 && info.st_uid != user)
    return "belongs to uid " + std::to_string(info.st_uid) +
           (user == 0 ? ", and not to root, who runs this; chown it"
                      : ", who is neither root nor the user that runs this; chown it");
  if (S_ISLNK(info.st_mode)) return {};  // its mode has no meaning
  const bool is_sticky = S_ISDIR(info.st_mode) && (info.st_mode & S_ISVTX) != 0;
  if (is_sticky) return {};
  const std::string means = ", so that others may write to it; run chmod go-w on it";
  if ((info.st_mode & S_IWOTH) != 0) return "is writable by everybody" + means;
  if ((info.st_mode & S_IWGRP) != 0 && !is_private_group(info.st_gid))
    return "is writable by its group (gid " + std::to_string(info.st_gid) + ")" + means;
  return {};
}

Errc code_of(int number) {
  if (number == ENOENT || number == ENOTDIR) return Errc::kNotFound;
  if (number == EACCES || number == EPERM) return Errc::kForbidden;
  const bool passes = number == EMFILE || number == ENFILE || number == ENOMEM;
  return passes ? Errc::kUnavailable : Errc::kInvalidArgument;
}

/// Goes from "/" to a file, as the kernel does, and looks at everything on the way.
class Walk {
 public:
  Walk(fs::path path, const fs::path& never_beneath)
      : path_(std::move(path)), never_beneath_(never_beneath) {
    // A folder that does not exist has nothing beneath it.
    has_forbidden_ = !never_beneath.empty() && ::stat(never_beneath.c_str(), &forbidden_) == 0;
  }

  Result<UniqueFd> open_file() {
    HOSTLER_TRY(walk());
    if (file_) return std::move(file_);
    return fail(Errc::kInvalidArgument, path_.string() + " is not a regular file");
  }

  Result<UniqueFd> open_folder() {
    HOSTLER_TRY(walk());
    if (file_) return fail(Errc::kInvalidArgument, path_.string() + " is not a folder");
    struct stat info {};
    if (::fstat(at_.get(), &info) != 0) return tl::unexpected(failed(errno));
    if ((info.st_mode & S_IWOTH) != 0)
      return fail(Errc::kForbidden, path_.string() + " is a folder that everybody may write to");
    return std::move(at_);
  }

 private:
  /// Ends in the last folder, with the file if the path has one at its end.
  Result<void> walk() {
    rest_ = names_of(path_);
    HOSTLER_TRY(begin_at_root());
    while (!rest_.empty()) {
      std::string name = std::move(rest_.front());
      rest_.pop_front();
      // As a folder first: that mounts what is mounted on demand.
      constexpr int kFlags = O_PATH | O_NOFOLLOW;
      UniqueFd fd(::openat(at_.get(), name.c_str(), kFlags | O_DIRECTORY | O_CLOEXEC));
      if (!fd && (errno == ENOTDIR || errno == ELOOP))
        fd.reset(::openat(at_.get(), name.c_str(), kFlags | O_CLOEXEC));
      struct stat info {};
      if (!fd || ::fstat(fd.get(), &info) != 0) return tl::unexpected(failed(errno));
      const fs::path where = (where_ / name).lexically_normal();
      if (S_ISLNK(info.st_mode)) {
        HOSTLER_TRY(follow(fd, info, where));
      } else if (rest_.empty() && !S_ISDIR(info.st_mode)) {
        file_ = HOSTLER_TRY(open_last(name, where));
      } else {
        HOSTLER_TRY(enter(std::move(fd), info, where));
      }
    }
    return {};
  }

  static std::deque<std::string> names_of(const fs::path& path) {
    std::deque<std::string> names;
    for (const auto& name : path.relative_path())
      if (!name.empty() && name != ".") names.push_back(name);
    return names;
  }

  [[nodiscard]] Error failed(int number) const {
    errno = number;
    return errno_error("open " + path_.string(), code_of(number));
  }

  [[nodiscard]] Result<void> check(const struct stat& info, const std::string& kind,
                                   const fs::path& where) const {
    const std::string problem = distrust(info);
    if (problem.empty()) return {};
    const std::string subject = where == path_ ? "" : ": the " + kind + " " + where.string();
    return fail(Errc::kForbidden, path_.string() + subject + " " + problem);
  }

  Result<void> begin_at_root() {
    UniqueFd root(::open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
    struct stat info {};
    if (!root || ::fstat(root.get(), &info) != 0) return tl::unexpected(failed(errno));
    return enter(std::move(root), info, "/");
  }

  Result<void> enter(UniqueFd fd, const struct stat& info, const fs::path& where) {
    if (!S_ISDIR(info.st_mode)) return tl::unexpected(failed(ENOTDIR));
    HOSTLER_TRY(check(info, "folder", where));
    if (has_forbidden_ && info.st_dev == forbidden_.st_dev && info.st_ino == forbidden_.st_ino)
      return fail(Errc::kForbidden, path_.string() + " lies beneath the state folder " +
                                        never_beneath_.string() +
                                        ", whose files users can upload; keep it elsewhere");
    at_ = std::move(fd);
    where_ = where;
    return {};
  }

  Result<void> follow(const UniqueFd& link, const struct stat& info, const fs::path& where) {
    HOSTLER_TRY(check(info, "symbolic link", where));
    if (++links_ > kLinksMax) return tl::unexpected(failed(ELOOP));
    std::string target(kLinkBytesMax, '\0');
    const ssize_t n = ::readlinkat(link.get(), "", target.data(), target.size());
    if (n < 0) return tl::unexpected(failed(errno));
    target.resize(static_cast<std::size_t>(n));
    auto names = names_of(target);
    rest_.insert(rest_.begin(), names.begin(), names.end());
    return target.starts_with('/') ? begin_at_root() : Result<void>();
  }

  /// The file may have been exchanged since it was looked at: looks at what is open now.
  Result<UniqueFd> open_last(const std::string& name, const fs::path& where) const {
    UniqueFd fd(::openat(at_.get(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
    struct stat info {};
    if (!fd || ::fstat(fd.get(), &info) != 0) return tl::unexpected(failed(errno));
    if (!S_ISREG(info.st_mode))
      return fail(Errc::kInvalidArgument, path_.string() + " is not a regular file");
    HOSTLER_TRY(check(info, "file", where));
    return fd;
  }

  const fs::path path_;
  const fs::path never_beneath_;
  struct stat forbidden_ {};
  bool has_forbidden_ = false;
  std::deque<std::string> rest_;  ///< Names that are still to be gone through.
  UniqueFd at_;                   ///< The folder that was reached.
  fs::path where_;                ///< And its path.
  UniqueFd file_;                 ///< The file at the end.
  int links_ = 0;
};

}  // namespace

Result<UniqueFd> open_trusted(const fs::path& path, const fs::path& never_beneath) {
  std::error_code problem;
  const fs::path absolute = fs::absolute(path, problem);
  if (problem) return fail(Errc::kInvalidArgument, path.string() + ": " + problem.message());
  return Walk(absolute, never_beneath).open_file();
}

Result<UniqueFd> open_trusted_folder(const fs::path& path) {
  std::error_code problem;
  const fs::path absolute = fs::absolute(path, problem);
  if (problem) return fail(Errc::kInvalidArgument, path.string() + ": " + problem.message());
  return Walk(absolute, {}).open_folder();
}

Result<std::string> read_trusted_file(const fs::path& path, std::size_t max,
                                      const fs::path& never_beneath) {
  const UniqueFd fd = HOSTLER_TRY(open_trusted(path, never_beneath));
  return read_open_file(fd, path, max);
}

Result<std::string> read_trusted_secret_file(const fs::path& path, std::size_t max) {
  const UniqueFd fd = HOSTLER_TRY(open_trusted(path));
  HOSTLER_TRY(check_secret_file(fd, path));
  return read_open_file(fd, path, max);
}

}  // namespace hostler
