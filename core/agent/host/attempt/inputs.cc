#include "core/agent/host/attempt/inputs.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "core/agent/host/attempt/blobs.h"
#include "core/agent/host/system/os.h"
#include "core/base/text.h"

namespace hostler::agent {
namespace {

Result<void> change_owner(const std::string& path, std::uint32_t uid) {
  if (uid != 0 && ::lchown(path.c_str(), uid, uid) != 0)
    return tl::unexpected(os_error("change the owner of " + path));
  return {};
}

/// "a" and "a/b" cannot both be files, and names have a maximum length: such errors are of the job.
Error path_error(const std::string& doing) {
  const bool is_wrong =
      errno == EEXIST || errno == ENOTDIR || errno == EISDIR || errno == ENAMETOOLONG;
  return os_error(doing, is_wrong ? Errc::kInvalidArgument : Errc::kInternal);
}

Result<void> make_folders(const std::string& folder, const std::string& inner, std::uint32_t uid) {
  for (std::size_t at = inner.find('/'); at != std::string::npos; at = inner.find('/', at + 1)) {
    const std::string path = folder + "/" + inner.substr(0, at);
    if (::mkdir(path.c_str(), 0755) == 0) {
      HOSTLER_TRY(change_owner(path, uid));
    } else if (errno != EEXIST) {
      return tl::unexpected(path_error("create " + path));
    }
  }
  return {};
}

Result<void> copy(int from, int to) {
  bool in_kernel = true;  // copies fast, by sharing blocks where the file system can
  for (;;) {
    ssize_t n = 0;
    if (in_kernel) {
      n = ::copy_file_range(from, nullptr, to, nullptr, std::size_t{1} << 30, 0);
      if (n < 0 && errno != EINTR) in_kernel = false;
      if (n == 0) return {};
      continue;
    }
    static char buffer[65536];
    n = ::read(from, buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return tl::unexpected(os_error("read blob"));
    if (n == 0) return {};
    HOSTLER_TRY(write_all(to, {buffer, static_cast<std::size_t>(n)}, "input"));
  }
}

}  // namespace

bool is_inner_path(const std::string& path) {
  for (const std::string_view part : split(path, '/'))
    if (part.empty() || part == "." || part == "..") return false;
  return path.find('\0') == std::string::npos;
}

Result<void> place_inputs(const std::vector<model::Input>& inputs, const std::string& folder,
                          std::uint32_t uid) {
  for (const model::Input& input : inputs) {
    if (!is_inner_path(input.path) || !is_sha256(input.sha256))
      return fail(Errc::kInvalidArgument, "input '" + printable(input.path) +
                                              "': it needs a relative path without '..' and "
                                              "a sha256");
    const UniqueFd from(::open(blob_path(input.sha256).c_str(), O_RDONLY | O_CLOEXEC));
    if (!from) return tl::unexpected(os_error("input '" + input.path + "': blob " + input.sha256));
    HOSTLER_TRY(make_folders(folder, input.path, uid));
    const std::string path = folder + "/" + input.path;
    const UniqueFd to(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
                             input.executable ? 0755 : 0644));
    if (!to) return tl::unexpected(path_error("create input '" + input.path + "'"));
    HOSTLER_TRY(copy(from.get(), to.get()));
    HOSTLER_TRY(change_owner(path, uid));
  }
  return {};
}

}  // namespace hostler::agent
