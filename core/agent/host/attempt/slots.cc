#include "core/agent/host/attempt/slots.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cerrno>

#include "core/agent/host/system/os.h"
#include "core/base/text.h"

namespace hostler::agent {
namespace {

/// True if the folder is empty and has its original owner, mode and attributes. (An access list
/// that one job left would let its user read the files of the next job.)
bool is_clean(const std::string& path, std::uint32_t uid) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0) return false;
  struct stat info {};
  bool clean = ::fstat(fd, &info) == 0 && (info.st_mode & 07777) == 0700 &&
               (uid == 0 || info.st_uid == uid) && ::flistxattr(fd, nullptr, 0) <= 0;
  DIR* dir = ::fdopendir(fd);
  if (dir == nullptr) return ::close(fd), false;
  while (const dirent* entry = clean ? ::readdir(dir) : nullptr) {
    const std::string_view name = entry->d_name;
    clean = name == "." || name == "..";
  }
  ::closedir(dir);
  return clean;
}

}  // namespace

std::string work_path(std::uint32_t slot) { return "work/" + std::to_string(slot); }

Result<void> Slots::open() {
  if (::mkdir("work", 0711) != 0 && errno != EEXIST) return tl::unexpected(os_error("create work"));
  return {};
}

void Slots::discard_rest(Cleaner& cleaner) {
  DIR* dir = ::opendir("work");
  if (dir == nullptr) return;
  while (const dirent* entry = ::readdir(dir)) {
    const auto slot = parse_u64(entry->d_name);
    if (!slot || used_.contains(static_cast<std::uint32_t>(*slot))) continue;
    if (!cleaner.discard(std::string("work/") + entry->d_name))
      used_.insert(static_cast<std::uint32_t>(*slot));
  }
  ::closedir(dir);
}

std::optional<std::uint32_t> Slots::take(std::uint32_t max) {
  std::uint32_t slot = 1;
  for (const std::uint32_t used : used_) {
    if (used != slot) break;
    ++slot;
  }
  if (max != 0 && slot > max) return std::nullopt;
  used_.insert(slot);
  return slot;
}

bool Slots::is_ready(std::uint32_t slot, std::uint32_t uid, Cleaner& cleaner) {
  const auto found = ready_.find(slot);
  if (found == ready_.end()) return false;
  const bool same = found->second == uid;
  ready_.erase(found);
  if (!same) (void)cleaner.discard(work_path(slot));
  return same;
}

void Slots::give_back(std::uint32_t slot, std::uint32_t uid, Cleaner& cleaner) {
  if (is_clean(work_path(slot), uid))
    ready_[slot] = uid;
  else if (!cleaner.discard(work_path(slot)))
    return;  // a job in this slot could not start
  used_.erase(slot);
}

}  // namespace hostler::agent
