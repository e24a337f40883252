#include "core/cli/uploads.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <utility>

#include "core/base/files.h"
#include "core/base/text.h"
#include "core/crypto/hash.h"

namespace hostler::cli {
namespace {

Result<std::string> file_sha256(const std::string& file) {
  const UniqueFd fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return tl::unexpected(errno_error("open " + file, Errc::kInvalidArgument));
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0 || !S_ISREG(info.st_mode))
    return fail(Errc::kInvalidArgument,
                file + " is no regular file: an input is read twice, which a pipe cannot be");
  crypto::Sha256 hash;
  std::string piece(1U << 16U, '\0');
  for (;;) {
    const ssize_t got = ::read(fd.get(), piece.data(), piece.size());
    if (got < 0) return tl::unexpected(errno_error("read " + file, Errc::kInvalidArgument));
    if (got == 0) break;
    hash.update(std::string_view(piece).substr(0, static_cast<std::size_t>(got)));
  }
  const auto digest = hash.finish();
  return to_hex(digest);
}

}  // namespace

Result<void> Uploads::take(model::JobSpec& spec, const std::vector<api::LocalInput>& local) {
  for (const auto& one : local) {
    model::Input& input = spec.inputs[one.index];
    auto sha256 = send(one.from);
    if (!sha256)
      return tl::unexpected(std::move(sha256.error()).with_context("input " + input.path));
    input.sha256 = std::move(*sha256);
  }
  return {};
}

Result<std::string> Uploads::send(const std::string& file) {
  if (const auto known = sha256_.find(file); known != sha256_.end()) return known->second;
  std::string sha256 = HOSTLER_TRY(file_sha256(file));
  const std::string path = "/v1/blobs/" + sha256;
  if (!HOSTLER_TRY(client_.has(path))) HOSTLER_TRY(client_.put_file(path, file));
  return sha256_.emplace(file, std::move(sha256)).first->second;
}

}  // namespace hostler::cli
