#include "core/base/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace hostler {

void UniqueFd::reset(int fd) {
  if (fd_ >= 0) ::close(fd_);
  fd_ = fd;
}

Error errno_error(std::string_view doing, Errc code) {
  const int number = errno;
  return {code, std::string(doing) + ": " + std::generic_category().message(number)};
}

namespace {

Errc code_of_open(int number) {
  if (number == ENOENT) return Errc::kNotFound;
  const bool passes = number == EMFILE || number == ENFILE || number == ENOMEM;
  return passes ? Errc::kUnavailable : Errc::kInvalidArgument;
}

Result<UniqueFd> open_regular(const std::filesystem::path& path, struct stat& info) {
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd) return tl::unexpected(errno_error("open " + path.string(), code_of_open(errno)));
  if (::fstat(fd.get(), &info) != 0) return tl::unexpected(errno_error("stat " + path.string()));
  if (!S_ISREG(info.st_mode))
    return fail(Errc::kInvalidArgument, path.string() + " is not a regular file");
  return fd;
}

}  // namespace

Result<std::string> read_open_file(const UniqueFd& fd, const std::filesystem::path& path,
                                   std::size_t max) {
  std::string out;
  std::string chunk(65536, '\0');
  for (;;) {
    const ssize_t n = ::read(fd.get(), chunk.data(), chunk.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return tl::unexpected(errno_error("read " + path.string()));
    if (n == 0) return out;
    out.append(chunk, 0, static_cast<std::size_t>(n));
    if (out.size() > max)
      return fail(Errc::kTooLarge,
                  path.string() + " is larger than " + std::to_string(max) + " bytes");
  }
}

Result<std::string> read_file(const std::filesystem::path& path, std::size_t max) {
  struct stat info {};
  const UniqueFd fd = HOSTLER_TRY(open_regular(path, info));
  return read_open_file(fd, path, max);
}

Result<void> check_secret_file(const UniqueFd& fd, const std::filesystem::path& path) {
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0) return tl::unexpected(errno_error("stat " + path.string()));
  if (info.st_uid != 0 && info.st_uid != ::geteuid())
    return fail(Errc::kForbidden, path.string() + " holds a secret but belongs to uid " +
                                      std::to_string(info.st_uid) +
                                      ", which is neither root nor this user: it belongs to the "
                                      "user that hostlerd runs as, who also has to check it");
  if ((info.st_mode & 077U) != 0)
    return fail(Errc::kForbidden,
                path.string() + " holds a secret but is open to group or others: chmod 600 it");
  return {};
}

Result<std::string> read_secret_file(const std::filesystem::path& path, std::size_t max) {
  struct stat info {};
  const UniqueFd fd = HOSTLER_TRY(open_regular(path, info));
  HOSTLER_TRY(check_secret_file(fd, path));
  return read_open_file(fd, path, max);
}

Result<void> write_all(int fd, std::string_view data, std::string_view name) {
  while (!data.empty()) {
    const ssize_t n = ::write(fd, data.data(), data.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return tl::unexpected(errno_error("write " + std::string(name)));
    data.remove_prefix(static_cast<std::size_t>(n));
  }
  return {};
}

Result<void> write_file(const std::filesystem::path& path, std::string_view content,
                        unsigned mode) {
  const std::string next = path.string() + ".next";
  {
    const UniqueFd fd(::open(next.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode));
    if (!fd) return tl::unexpected(errno_error("create " + next));
    if (::fchmod(fd.get(), mode) != 0) return tl::unexpected(errno_error("chmod " + next));
    HOSTLER_TRY(write_all(fd.get(), content, next));
    if (::fdatasync(fd.get()) != 0) return tl::unexpected(errno_error("sync " + next));
  }
  if (::rename(next.c_str(), path.c_str()) != 0)
    return tl::unexpected(errno_error("rename " + next + " to " + path.string()));
  return {};
}

}  // namespace hostler
