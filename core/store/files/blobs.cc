#include "core/store/files/blobs.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "core/base/text.h"
#include "core/crypto/random.h"
#include "core/store/files/folders.h"

namespace hostler::store {
namespace {

bool is_sha256(std::string_view text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

/// 0 if there is no such file.
std::int64_t modified_us(const std::filesystem::path& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return 0;
  return std::int64_t{info.st_mtim.tv_sec} * 1'000'000 + info.st_mtim.tv_nsec / 1000;
}

}  // namespace

BlobUpload::~BlobUpload() {
  if (fd_) ::unlink(part_.c_str());
  if (taken_ > 0) use_->give_back(owner_.principal, taken_);
}

Result<void> BlobUpload::append(std::string_view bytes) {
  size_ += bytes.size();
  if (size_ > bytes_max_)
    return fail(Errc::kTooLarge,
                "a blob may have " + std::to_string(bytes_max_) + " bytes, this one has more");
  hash_.update(bytes);
  if (!fd_) return {};
  const std::uint64_t more = counted(size_) - taken_;
  HOSTLER_TRY(use_->take(owner_, more));
  taken_ += more;
  auto written = write_all(fd_.get(), bytes, part_.string());
  if (!written) return fail(Errc::kUnavailable, std::move(written).error().message);
  return {};
}

Result<void> BlobUpload::finish() {
  const auto found = hash_.finish_hex();
  if (found != sha256_)
    return fail(Errc::kInvalidArgument,
                "the content has sha256 " + found + ", not " + sha256_ + " as was said");
  if (!fd_) return sync_folder(path_.parent_path());  // Whoever sent it may not have come so far.
  if (::fdatasync(fd_.get()) != 0) abort_after_failed_sync(part_);
  const std::filesystem::path named =
      !owner_.principal.empty() ? part_.string() + ".by" : std::string();
  if (!named.empty()) HOSTLER_TRY(write_durably(named, owner_.principal));
  auto kept = use_->keep(part_, named, path_, owner_.principal, taken_);
  if (!named.empty()) ::unlink(named.c_str());  // It is still there if it was not needed.
  HOSTLER_TRY(std::move(kept));
  taken_ = 0;
  fd_.reset();
  return sync_folder(path_.parent_path());
}

Result<Blobs> Blobs::open(const std::filesystem::path& folder, std::uint64_t blob_bytes_max) {
  HOSTLER_TRY(make_folder(folder));
  std::error_code code;
  std::filesystem::remove_all(folder / "part", code);
  if (code) return fail(Errc::kInternal, "remove unfinished uploads: " + code.message());
  HOSTLER_TRY(make_folder(folder / "part"));
  return Blobs(folder, blob_bytes_max);
}

Result<std::filesystem::path> Blobs::path_of(std::string_view sha256) const {
  if (!is_sha256(sha256))
    return fail(Errc::kInvalidArgument,
                "'" + printable(sha256, 80) + "' is no sha256 of 64 lower-case hex digits");
  return folder_ / sha256.substr(0, 2) / sha256;
}

Result<std::unique_ptr<BlobUpload>> Blobs::begin(std::string_view sha256, BlobOwner owner) const {
  std::unique_ptr<BlobUpload> upload(new BlobUpload());
  upload->path_ = HOSTLER_TRY(path_of(sha256));
  HOSTLER_TRY(make_folder(upload->path_.parent_path()));
  upload->use_ = use_;
  upload->owner_ = std::move(owner);
  upload->sha256_ = sha256;
  upload->bytes_max_ = blob_bytes_max_;
  // A blob that is there takes no room and counts nothing, so whoever got no answer can repeat.
  if (HOSTLER_TRY(exists(sha256))) return upload;
  upload->part_ = folder_ / "part" / crypto::random_hex(8);
  upload->fd_ =
      UniqueFd(::open(upload->part_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!upload->fd_)
    return tl::unexpected(errno_error("create " + upload->part_.string(), Errc::kUnavailable));
  return upload;
}

Result<bool> Blobs::exists(std::string_view sha256) const {
  const auto path = HOSTLER_TRY(path_of(sha256));
  if (::utimensat(AT_FDCWD, path.c_str(), nullptr, 0) == 0) return true;
  if (errno == ENOENT) return false;
  return tl::unexpected(errno_error("touch " + path.string()));
}

Result<UniqueFd> Blobs::open_blob(std::string_view sha256) const {
  const auto path = HOSTLER_TRY(path_of(sha256));
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd)
    return tl::unexpected(errno_error("open blob " + std::string(sha256),
                                      errno == ENOENT ? Errc::kNotFound : Errc::kInternal));
  return fd;
}

Result<std::uint64_t> Blobs::size(std::string_view sha256) const {
  const auto fd = HOSTLER_TRY(open_blob(sha256));
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0)
    return tl::unexpected(errno_error("stat blob " + std::string(sha256)));
  return static_cast<std::uint64_t>(info.st_size);
}

Result<std::set<std::string>> Blobs::older_than(Wall time) const {
  std::set<std::string> old;
  for (const auto& shard : HOSTLER_TRY(names_in(folder_))) {
    if (shard.size() != 2) continue;
    for (const auto& name : HOSTLER_TRY(names_in(folder_ / shard)))
      if (is_sha256(name) && modified_us(folder_ / shard / name) < time.us) old.insert(name);
  }
  return old;
}

Result<void> Blobs::remove(std::string_view sha256, Wall time) const {
  const auto path = HOSTLER_TRY(path_of(sha256));
  const auto modified = modified_us(path);
  if (modified == 0 || modified >= time.us) return {};
  return use_->remove(path);
}

}  // namespace hostler::store
