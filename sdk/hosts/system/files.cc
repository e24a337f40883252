#include "sdk/hosts/system/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "sdk/drivers/fd.h"
#include "sdk/hosts/system/failure.h"

namespace hostler::machines {

void fail_errno(const std::string& what) {
  throw Failure("internal", "cannot " + what + ": " + std::strerror(errno));
}

std::string read_file(const std::string& path, std::size_t max) {
  const driver::Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) fail_errno("open " + path);
  std::string text;
  char buffer[4096];
  for (;;) {
    const ssize_t count = ::read(fd.get(), buffer, sizeof buffer);
    if (count == 0) return text;
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail_errno("read " + path);
    text.append(buffer, static_cast<std::size_t>(count));
    if (text.size() > max) invalid(path + " is longer than " + std::to_string(max) + " bytes");
  }
}

void write_file(const std::string& path, std::string_view text, unsigned mode, int at) {
  const driver::Fd fd(
      ::openat(at, path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!fd) fail_errno("create " + path);
  while (!text.empty()) {
    const ssize_t count = ::write(fd.get(), text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail_errno("write " + path);
    text.remove_prefix(static_cast<std::size_t>(count));
  }
  if (::fchmod(fd.get(), mode) != 0) fail_errno("set the mode of " + path);
}

void make_folder(const std::string& path, unsigned mode) {
  if (::mkdir(path.c_str(), mode) == 0) {
    if (::chmod(path.c_str(), mode) != 0) fail_errno("set the mode of " + path);
  } else if (errno != EEXIST) {
    fail_errno("make the folder " + path);
  }
}

bool is_there(const std::string& path) { return ::access(path.c_str(), F_OK) == 0; }

}  // namespace hostler::machines
