#include "core/store/state_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "core/base/text.h"

namespace hostler::store {

Result<StateLock> StateLock::take(const std::filesystem::path& file) {
  UniqueFd fd(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!fd) return tl::unexpected(errno_error("open " + file.string()));
  if (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return tl::unexpected(errno_error("lock " + file.string()));
    const auto holder = read_file(file, 64);
    return fail(Errc::kConflict, "it is in use by process " +
                                     (holder ? printable(*holder, 20) : "?") +
                                     ": stop that hostlerd, or give this one another --state");
  }
  const auto pid = std::to_string(::getpid());
  if (::ftruncate(fd.get(), 0) != 0) return tl::unexpected(errno_error("cut " + file.string()));
  HOSTLER_TRY(write_all(fd.get(), pid, file.string()));
  return StateLock(std::move(fd));
}

}  // namespace hostler::store
