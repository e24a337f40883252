#include "core/cli/uploads.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <utility>

#include "core/base/files.h"
#include "core/base/text.h"
#include "core/crypto/hash.h"

namespace hostler::cli {

Result<void> Uploads::upload(model::JobSpec& spec, const std::vector<api::LocalInput>& local) {
  for (const auto& one : local) {
    model::Input& input = spec.inputs[one.index];
    auto file = send(one.from);
    if (!file) return tl::unexpected(std::move(file.error()).with_context("input " + input.path));
    input.sha256 = std::move(file->sha256);
    input.executable = input.executable || file->executable;
  }
  return {};
}

Result<Uploads::File> Uploads::send(const std::string& file) {
  if (const auto known = sent_.find(file); known != sent_.end()) return known->second;
  File content = HOSTLER_TRY(read(file));
  const std::string path = "/v1/blobs/" + content.sha256;
  if (sends_ && !HOSTLER_TRY(client_.has(path))) HOSTLER_TRY(client_.put_file(path, file));
  return sent_.emplace(file, std::move(content)).first->second;
}

Result<Uploads::File> Uploads::read(const std::string& file) {
  const UniqueFd fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return tl::unexpected(errno_error("open " + file, Errc::kInvalidArgument));
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0 || !S_ISREG(info.st_mode))
    return fail(
        Errc::kInvalidArgument,
        file + " is not a regular file: an input must be readable twice, so it cannot be a pipe");
  crypto::Sha256 hash;
  std::string piece(1U << 16U, '\0');
  for (;;) {
    const ssize_t got = ::read(fd.get(), piece.data(), piece.size());
    if (got < 0) return tl::unexpected(errno_error("read " + file, Errc::kInvalidArgument));
    if (got == 0) break;
    hash.update(std::string_view(piece).substr(0, static_cast<std::size_t>(got)));
  }
  const auto digest = hash.finish();
  return File{to_hex(digest), (info.st_mode & S_IXUSR) != 0};
}

}  // namespace hostler::cli
