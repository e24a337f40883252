#include "core/agent/host/system/os.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <span>

#include "core/base/text.h"

namespace hostler::agent {
namespace {

std::int64_t clock_us(clockid_t clock) {
  timespec now{};
  ::clock_gettime(clock, &now);
  return std::int64_t{now.tv_sec} * 1'000'000 + now.tv_nsec / 1000;
}

}  // namespace

Error os_error(std::string_view doing, Errc code) {
  const char* what = ::strerrordesc_np(errno);
  return {code, std::string(doing) + ": " + (what != nullptr ? what : "unknown error")};
}

std::int64_t wall_us() { return clock_us(CLOCK_REALTIME); }
std::int64_t boottime_us() { return clock_us(CLOCK_BOOTTIME); }

std::string read_small(const char* path, std::size_t max) {
  const UniqueFd fd(::open(path, O_RDONLY | O_CLOEXEC));
  std::string out;
  if (!fd) return out;
  char buffer[4096];
  while (out.size() < max) {
    const ssize_t n = ::read(fd.get(), buffer, std::min(sizeof buffer, max - out.size()));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    out.append(buffer, static_cast<std::size_t>(n));
  }
  return out;
}

UniqueFd open_null() {
  UniqueFd fd(::open("/dev/null", O_RDWR | O_CLOEXEC));
  if (fd) return fd;
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return fd;
  ::close(ends[1]);
  return UniqueFd(ends[0]);
}

Result<UniqueFd> memory_file(std::string_view data) {
  UniqueFd fd(::memfd_create("stdin", MFD_CLOEXEC));
  if (!fd) return tl::unexpected(os_error("memfd_create"));
  HOSTLER_TRY(write_all(fd.get(), data, "stdin"));
  if (::lseek(fd.get(), 0, SEEK_SET) != 0) return tl::unexpected(os_error("lseek"));
  return fd;
}

std::uint64_t descriptors_max() {
  constexpr rlim_t kUsual = 1024;
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return kUsual;
  if (limit.rlim_cur >= kUsual) return limit.rlim_cur;
  limit.rlim_cur = std::min(kUsual, limit.rlim_max);
  (void)::setrlimit(RLIMIT_NOFILE, &limit);
  return limit.rlim_cur;
}

std::string random_hex(std::size_t bytes) {
  std::string raw(bytes, '\0');
  if (::getrandom(raw.data(), raw.size(), 0) != static_cast<ssize_t>(bytes)) {
    const std::int64_t now = wall_us() ^ (std::int64_t{::getpid()} << 40);
    std::memcpy(raw.data(), &now, bytes < sizeof now ? bytes : sizeof now);
  }
  return to_hex(std::span(reinterpret_cast<const std::uint8_t*>(raw.data()), raw.size()));
}

}  // namespace hostler::agent
