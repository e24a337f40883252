#include "core/store/files/reserve.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <system_error>
#include <utility>

namespace hostler::store {
namespace {

constexpr std::uint64_t kUsualMax = std::uint64_t{1} << 30U;
constexpr std::uint64_t kUsualPart = 10;  // of the file system
/// Released in so many parts: whoever else fills the disk gets only what rows had asked for.
constexpr std::uint64_t kParts = 16;
constexpr std::uint64_t kPartMin = std::uint64_t{1} << 20U;
/// After a write that failed, a disk without room for this is full: the largest write of rows.
constexpr std::uint64_t kProbeMax = std::uint64_t{32} << 20U;
/// So much more than the reserve must be free, or the disk would be full again at once.
constexpr std::uint64_t kMarginPart = 4;
/// So many inodes are kept for rows, and no more than this part of all.
constexpr std::uint64_t kInodesMax = 1000, kInodesPart = 10;

}  // namespace

Reserve::Reserve(std::filesystem::path file, UniqueFd fd, std::uint64_t bytes, OnChange on_change)
    : file_(std::move(file)), fd_(std::move(fd)), bytes_(bytes), on_change_(std::move(on_change)) {}

Result<std::uint64_t> Reserve::usual_bytes(const std::filesystem::path& folder) {
  std::error_code code;
  const auto space = std::filesystem::space(folder, code);
  if (code)
    return fail(Errc::kInternal, "size of the disk of " + folder.string() + ": " + code.message());
  return std::min<std::uint64_t>(kUsualMax, space.capacity / kUsualPart);
}

Result<std::unique_ptr<Reserve>> Reserve::open(const std::filesystem::path& file,
                                               std::uint64_t bytes, OnChange on_change) {
  UniqueFd fd(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!fd) return tl::unexpected(errno_error("open " + file.string()));
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0) return tl::unexpected(errno_error("stat " + file.string()));
  std::unique_ptr<Reserve> reserve(new Reserve(file, std::move(fd), bytes, std::move(on_change)));
  {
    const MutexLock lock(reserve->mutex_);
    reserve->held_ = static_cast<std::uint64_t>(info.st_size);
    reserve->low_ = !reserve->resize(bytes);
  }
  if (reserve->is_low()) reserve->tell(true);
  return reserve;
}

/// Asks for space and gives it back: a quota of the user counts as well as the disk.
bool Reserve::is_disk_full() {
  const auto held = held_;
  const bool full = !resize(held + std::clamp(bytes_, kPartMin, kProbeMax));
  resize(held);
  return full;
}

bool Reserve::lacks_inodes() const {
  struct statvfs disk {};
  // Some file systems have no fixed number of inodes, and say 0.
  if (::statvfs(file_.c_str(), &disk) != 0 || disk.f_files == 0) return false;
  const auto kept = std::min<std::uint64_t>(kInodesMax, disk.f_files / kInodesPart);
  return disk.f_favail < (low_ ? kept + kept / kMarginPart : kept);
}

void Reserve::look_at_inodes() {
  if (bytes_ == 0 || low_ || !lacks_inodes()) return;
  if (!low_.exchange(true)) tell(true);
}

bool Reserve::resize(std::uint64_t bytes) {
  const auto size = static_cast<off_t>(bytes);
  if (bytes <= held_) {
    if (::ftruncate(fd_.get(), size) != 0) return false;
  } else if (::posix_fallocate(fd_.get(), 0, size) != 0) {
    [[maybe_unused]] const int undone = ::ftruncate(fd_.get(), static_cast<off_t>(held_));
    return false;
  }
  held_ = bytes;
  return true;
}

bool Reserve::release() {
  bool began = false, gave = false;
  {
    const MutexLock lock(mutex_);
    if (bytes_ == 0) return false;
    const bool is_full = is_disk_full();
    if (!is_full && !lacks_inodes()) return false;
    began = !low_.exchange(true);
    gave = is_full && held_ > 0 &&
           resize(held_ - std::min(held_, std::max(bytes_ / kParts, kPartMin)));
  }
  if (began) tell(true);
  return gave;
}

void Reserve::check() {
  {
    const MutexLock lock(mutex_);
    if (bytes_ == 0 || low_ || (!is_disk_full() && !lacks_inodes())) return;
    low_ = true;
  }
  tell(true);
}

bool Reserve::refill() {
  look_at_inodes();
  {
    const MutexLock lock(mutex_);
    if (!low_) return true;
    std::error_code code;
    const auto space = std::filesystem::space(file_, code);
    if (code || space.available < bytes_ - held_ + bytes_ / kMarginPart) return false;
    if (lacks_inodes() || !resize(bytes_)) return false;
    low_ = false;
  }
  tell(false);
  return true;
}

DiskRoom Reserve::room() const {
  std::error_code code;
  const auto space = std::filesystem::space(file_, code);
  if (code) return {UINT64_MAX, UINT64_MAX};
  const std::uint64_t margin = bytes_ / kMarginPart;
  const bool none = low_ || (bytes_ > 0 && lacks_inodes()) || space.available < margin;
  return {none ? 0 : space.available - margin, space.capacity};
}

void Reserve::tell(bool low) {
  if (on_change_) on_change_(low);
}

Error disk_full() {
  return {Errc::kUnavailable,
          "the disk of the state folder is full (see df and df -i): only what ends work is "
          "accepted until there is "
          "room again (make room, or delete kept outputs with 'hostler outputs rm')"};
}

}  // namespace hostler::store
