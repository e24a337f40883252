#include "core/store/files/folders.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <system_error>

#include "core/base/files.h"
#include "core/log/log.h"

namespace hostler::store {

Result<void> make_folder(const std::filesystem::path& folder) {
  const bool has_parent = folder.has_parent_path() && folder.parent_path() != folder;
  bool made = ::mkdir(folder.c_str(), 0700) == 0;
  if (!made && errno == ENOENT && has_parent) {
    HOSTLER_TRY(make_folder(folder.parent_path()));
    made = ::mkdir(folder.c_str(), 0700) == 0;
  }
  if (made) {
    if (has_parent) return sync_folder(folder.parent_path());
    return {};
  }
  if (errno == EEXIST) {
    std::error_code code;
    if (std::filesystem::is_directory(folder, code)) return {};
    errno = ENOTDIR;
  }
  return tl::unexpected(errno_error("make folder " + folder.string(), Errc::kUnavailable));
}

Result<void> make_private_folder(const std::filesystem::path& folder) {
  HOSTLER_TRY(make_folder(folder));
  struct stat info {};
  if (::stat(folder.c_str(), &info) != 0)
    return tl::unexpected(errno_error("stat " + folder.string()));
  if (info.st_uid != ::geteuid())
    return fail(Errc::kForbidden, "the state folder " + folder.string() + " belongs to user " +
                                      std::to_string(info.st_uid) + ", hostlerd runs as " +
                                      std::to_string(::geteuid()) + ": give it its own folder");
  if ((info.st_mode & 07777U) != 0700 && ::chmod(folder.c_str(), 0700) != 0)
    return tl::unexpected(errno_error("chmod 0700 " + folder.string()));
  return {};
}

Result<void> sync_folder(const std::filesystem::path& folder) {
  const UniqueFd fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd) return tl::unexpected(errno_error("open folder " + folder.string(), Errc::kUnavailable));
  if (::fsync(fd.get()) != 0) abort_after_failed_sync(folder);
  return {};
}

Result<void> write_durably(const std::filesystem::path& file, std::string_view content) {
  auto written = write_file(file, content, 0600);
  if (!written) return fail(Errc::kUnavailable, std::move(written).error().message);
  return sync_folder(file.parent_path());
}

Result<std::vector<std::string>> names_in(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  std::error_code code;
  std::filesystem::directory_iterator entries(folder, code);
  if (code == std::errc::no_such_file_or_directory) return names;
  for (; !code && entries != std::filesystem::directory_iterator(); entries.increment(code))
    names.push_back(entries->path().filename().string());
  if (code) return fail(Errc::kInternal, "list " + folder.string() + ": " + code.message());
  std::sort(names.begin(), names.end());
  return names;
}

Result<std::string> read_at(const std::filesystem::path& file, std::uint64_t offset,
                            std::size_t length) {
  const UniqueFd fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd)
    return tl::unexpected(
        errno_error("open " + file.string(), errno == ENOENT ? Errc::kNotFound : Errc::kInternal));
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0) return tl::unexpected(errno_error("stat " + file.string()));
  const auto size = static_cast<std::uint64_t>(info.st_size);
  std::string out(offset >= size ? 0 : std::min<std::uint64_t>(length, size - offset), '\0');
  std::size_t have = 0;
  while (have < out.size()) {
    const ssize_t n =
        ::pread(fd.get(), out.data() + have, out.size() - have, static_cast<off_t>(offset + have));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return tl::unexpected(errno_error("read " + file.string()));
    if (n == 0) break;
    have += static_cast<std::size_t>(n);
  }
  out.resize(have);
  return out;
}

void abort_after_failed_sync(const std::filesystem::path& file) {
  log::error("store", errno_error("sync " + file.string()).message +
                          "; what is on the disk is not known any more, so hostlerd ends now: "
                          "check the disk and start again");
  std::abort();
}

}  // namespace hostler::store
