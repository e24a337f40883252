#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/error.h"

namespace hostler {

/// Owns one file descriptor. Every descriptor in the project is opened with O_CLOEXEC.
class UniqueFd {
 public:
  UniqueFd() = default;
  explicit UniqueFd(int fd) : fd_(fd) {}
  UniqueFd(UniqueFd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  UniqueFd& operator=(UniqueFd&& other) noexcept {
    if (this != &other) reset(std::exchange(other.fd_, -1));
    return *this;
  }
  UniqueFd(const UniqueFd&) = delete;
  UniqueFd& operator=(const UniqueFd&) = delete;
  ~UniqueFd() { reset(); }

  [[nodiscard]] int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  int release() { return std::exchange(fd_, -1); }
  void reset(int fd = -1);

 private:
  int fd_ = -1;
};

/// The current errno as an error: "open /x/y: No such file or directory" for `doing` "open /x/y".
Error errno_error(std::string_view doing, Errc code = Errc::kInternal);

/// Reads a whole file. Fails if it does not exist, is not a regular file or has more than `max`
/// bytes.
Result<std::string> read_file(const std::filesystem::path& path, std::size_t max);
/// Reads a file with a secret. Also fails if the owner is neither root nor the user of this
/// process, or if group or others have any permission.
Result<std::string> read_secret_file(const std::filesystem::path& path, std::size_t max);
/// Fails as read_secret_file() does for the owner and the mode of an open file.
Result<void> check_secret_file(const UniqueFd& fd, const std::filesystem::path& path);
/// Reads what is left of an open file. Fails if this is more than `max` bytes; errors name `path`.
Result<std::string> read_open_file(const UniqueFd& fd, const std::filesystem::path& path,
                                   std::size_t max);
/// Replaces a file atomically and durably (temporary file, fdatasync, rename). `mode` e.g. 0600.
Result<void> write_file(const std::filesystem::path& path, std::string_view content, unsigned mode);
/// Writes all of `data`; continues after EINTR and short writes. Errors name the file `name`.
Result<void> write_all(int fd, std::string_view data, std::string_view name);

}  // namespace hostler
