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

constexpr std::size_t kComingMax = 32;
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
    return BlobState{piece.sha256, false, "the name is no sha256 in lower-case hex"};
  const auto whole = has(piece.sha256) ? Result<bool>(true) : take(piece);
  if (whole && !*whole) return std::nullopt;
  if (whole) return BlobState{piece.sha256, true, ""};
  coming_.erase(piece.sha256);
  (void)::unlink(part_path(piece.sha256).c_str());
  return BlobState{piece.sha256, false, whole.error().message};
}

/// True when the blob is whole and kept.
Result<bool> Blobs::take(const BlobPut& piece) {
  if (piece.offset == 0) {
    if (piece.size > max_)
      return fail(Errc::kTooLarge, std::to_string(piece.size) + " bytes is more than the " +
                                       std::to_string(max_) + " that this host keeps");
    if (coming_.size() >= kComingMax) return fail(Errc::kUnavailable, "too many blobs at once");
    Coming& begun = coming_[piece.sha256] = Coming{};
    begun.size = piece.size;
    begun.fd.reset(
        ::open(part_path(piece.sha256).c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0400));
    if (!begun.fd) return tl::unexpected(os_error("create " + part_path(piece.sha256)));
  }
  const auto found = coming_.find(piece.sha256);
  if (found == coming_.end() || found->second.have != piece.offset ||
      found->second.size != piece.size || piece.data.size() > piece.size - piece.offset)
    return fail(Errc::kMisbehaving,
                "a piece at " + std::to_string(piece.offset) + " does not follow the one before");
  Coming& coming = found->second;
  HOSTLER_TRY(write_all(coming.fd.get(), piece.data, part_path(piece.sha256)));
  coming.hash.update(piece.data);
  coming.have += piece.data.size();
  // A crash of the host shall not leave the name with less than its content; and the loop stands
  // still meanwhile, so in small portions.
  if (coming.have == coming.size || coming.have - coming.synced >= kSyncEvery) {
    if (::fdatasync(coming.fd.get()) != 0)
      return tl::unexpected(os_error("sync " + part_path(piece.sha256)));
    coming.synced = coming.have;
  }
  if (coming.have < coming.size) return false;
  if (const std::string is = coming.hash.finish_hex(); is != piece.sha256)
    return fail(Errc::kMisbehaving, "its content hashes to " + is);
  make_room(coming.size);
  if (::rename(part_path(piece.sha256).c_str(), blob_path(piece.sha256).c_str()) != 0)
    return tl::unexpected(os_error("rename " + part_path(piece.sha256)));
  kept_[piece.sha256] = {coming.size, ++clock_};
  bytes_ += coming.size;
  coming_.erase(found);
  return true;
}

void Blobs::drop_coming() {
  for (const auto& [sha256, coming] : coming_) (void)::unlink(part_path(sha256).c_str());
  coming_.clear();
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
