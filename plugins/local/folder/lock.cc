#include "folder/lock.h"

#include <fcntl.h>
#include <poll.h>

#include <cerrno>
#include <chrono>

#include "folder/files.h"

namespace hostler::local {
namespace {

struct flock whole_file(short type = F_WRLCK) {
  struct flock range {};
  range.l_type = type;
  range.l_whence = SEEK_SET;
  return range;
}

std::optional<driver::Fd> open_lock(const std::string& path) {
  driver::Fd fd(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
  if (fd) return fd;
  if (errno == ENOENT) return std::nullopt;
  throw_errno("open", path);
}

}  // namespace

Lock::~Lock() {
  if (!fd_) return;
  struct flock range = whole_file(F_UNLCK);
  ::fcntl(fd_.get(), F_OFD_SETLK, &range);
}

std::optional<Lock> try_lock(const std::string& path) {
  std::optional<driver::Fd> fd = open_lock(path);
  if (!fd) return std::nullopt;
  struct flock range = whole_file();
  if (::fcntl(fd->get(), F_OFD_SETLK, &range) == 0) return Lock(std::move(*fd));
  if (errno == EAGAIN || errno == EACCES) return std::nullopt;
  throw_errno("lock", path);
}

std::optional<Lock> lock_within(const std::string& path, int timeout_ms) {
  using Clock = std::chrono::steady_clock;
  const auto until = Clock::now() + std::chrono::milliseconds(timeout_ms);
  for (int pause_ms = 1;; pause_ms = pause_ms < 16 ? pause_ms * 2 : 16) {
    if (std::optional<Lock> lock = try_lock(path)) return lock;
    if (Clock::now() >= until) return std::nullopt;
    ::poll(nullptr, 0, pause_ms);  // F_OFD_SETLKW has no timeout
  }
}

bool is_locked(const std::string& path) {
  const std::optional<driver::Fd> fd = open_lock(path);
  if (!fd) return false;
  struct flock range = whole_file();
  if (::fcntl(fd->get(), F_OFD_GETLK, &range) != 0) throw_errno("query the lock of", path);
  return range.l_type != F_UNLCK;
}

}  // namespace hostler::local
