#include "core/agent/host/attempt/blobs.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>

namespace hostler::agent {
namespace {

constexpr std::size_t kIncompleteMax = 32;
constexpr std::uint64_t kSyncEvery = std::uint64_t{4} << 20;

std::string part_path(const std::string& sha256) { return blob_path(sha256) + ".part"; }

}  // namespace

bool is_sha256(std::string_view text) {
  return text.size() == 64 && std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

std::string blob_path(const std::string& sha256) { return "blobs/" + sha256; }

Result<void> Blobs::open() {
  if (::mkdir("blobs", 0700) != 0 && errno != EEXIST)
    return tl::unexpected(os_error("create blobs"));
  DIR* dir = ::opendir("blobs");
  if (dir == nullptr) return tl::unexpected(os_error("open blobs"));
  while (const dirent* entry = ::readdir(dir)) {
    const std::string name = entry->d_name;
    struct stat info {};
    if (is_sha256(name) && ::stat(blob_path(name).c_str(), &info) == 0) {
      kept_[name] = {static_cast<std::uint64_t>(info.st_size), 0};
      bytes_ += static_cast<std::uint64_t>(info.st_size);
    } else if (name.ends_with(".part")) {
      (void)::unlink(("blobs/" + name).c_str());
    }
  }
  ::closedir(dir);
  return {};
}

bool Blobs::has(const std::string& sha256) {
  const auto found = kept_.find(sha256);
  if (found == kept_.end()) return false;
  found->second.used = ++clock_;
  return true;
}

std::optional<BlobState> Blobs::put(const BlobPut& piece) {
  if (!is_sha256(piece.sha256))
    return BlobState{piece.sha256, false, "the blob's name is not a sha256 in lower-case hex"};
  const auto whole = has(piece.sha256) ? Result<bool>(true) : add_piece(piece);
  if (whole && !*whole) return std::nullopt;
  if (whole) return BlobState{piece.sha256, true, ""};
  incomplete_.erase(piece.sha256);
  (void)::unlink(part_path(piece.sha256).c_str());
  return BlobState{piece.sha256, false, whole.error().message};
}

/// True if the blob is complete now.
Result<bool> Blobs::add_piece(const BlobPut& piece) {
  if (piece.offset == 0) HOSTLER_TRY(begin(piece));
  const auto found = incomplete_.find(piece.sha256);
  if (found == incomplete_.end() || found->second.received != piece.offset ||
      found->second.size != piece.size || piece.data.size() > piece.size - piece.offset)
    return fail(Errc::kMisbehaving, "the piece at offset " + std::to_string(piece.offset) +
                                        " does not follow the piece before it");
  Incomplete& blob = found->second;
  HOSTLER_TRY(write_all(blob.fd.get(), piece.data, part_path(piece.sha256)));
  blob.hash.update(piece.data);
  blob.received += piece.data.size();
  // Sync before the rename, so that a crash of the host leaves no blob with missing content. Sync
  // in small portions, because the server handles no other event meanwhile.
  if (blob.received == blob.size || blob.received - blob.synced >= kSyncEvery) {
    if (::fdatasync(blob.fd.get()) != 0)
      return tl::unexpected(os_error("sync " + part_path(piece.sha256)));
    blob.synced = blob.received;
  }
  if (blob.received < blob.size) return false;
  HOSTLER_TRY(complete(piece.sha256, blob));
  incomplete_.erase(found);
  return true;
}

Result<void> Blobs::begin(const BlobPut& piece) {
  if (piece.size > max_)
    return fail(Errc::kTooLarge, "the blob has " + std::to_string(piece.size) +
                                     " bytes; this host keeps at most " + std::to_string(max_));
  if (incomplete_.size() >= kIncompleteMax)
    return fail(Errc::kUnavailable, "too many blobs are being sent at once");
  Incomplete& blob = incomplete_[piece.sha256] = Incomplete{};
  blob.size = piece.size;
  const std::string path = part_path(piece.sha256);
  blob.fd.reset(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0400));
  if (!blob.fd) return tl::unexpected(os_error("create " + path));
  return {};
}

Result<void> Blobs::complete(const std::string& sha256, Incomplete& blob) {
  if (const std::string actual = blob.hash.finish_hex(); actual != sha256)
    return fail(Errc::kMisbehaving, "the content has the sha256 " + actual);
  make_room(blob.size);
  const std::string part = part_path(sha256);
  if (::rename(part.c_str(), blob_path(sha256).c_str()) != 0)
    return tl::unexpected(os_error("rename " + part));
  kept_[sha256] = {blob.size, ++clock_};
  bytes_ += blob.size;
  return {};
}

void Blobs::drop_incomplete() {
  for (const auto& [sha256, blob] : incomplete_) (void)::unlink(part_path(sha256).c_str());
  incomplete_.clear();
}

void Blobs::make_room(std::uint64_t size) {
  while (!kept_.empty() && bytes_ + size > max_) {
    const auto oldest = std::min_element(
        kept_.begin(), kept_.end(), [](auto& a, auto& b) { return a.second.used < b.second.used; });
    (void)::unlink(blob_path(oldest->first).c_str());
    bytes_ -= oldest->second.size;
    kept_.erase(oldest);
  }
}

}  // namespace hostler::agent
