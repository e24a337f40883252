#include "core/store/files/blob_use.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <system_error>

#include "core/base/files.h"
#include "core/base/units.h"
#include "core/store/files/folders.h"

namespace hostler::store {
namespace {

constexpr std::size_t kPrincipalMax = 1024;

std::filesystem::path name_file(const std::filesystem::path& blob) { return blob.string() + ".by"; }

/// Empty for a blob of an earlier version, which counts for nobody.
std::string principal_of(const std::filesystem::path& blob) {
  return read_file(name_file(blob), kPrincipalMax).value_or("");
}

std::uint64_t file_bytes(const std::filesystem::path& blob) {
  std::error_code code;
  const auto size = std::filesystem::file_size(blob, code);
  return code ? 0 : counted(size);
}

}  // namespace

Result<void> BlobUse::load() {
  if (loaded_) return {};
  bytes_.clear();  // A try that failed has counted a part.
  for (const auto& shard : HOSTLER_TRY(names_in(folder_))) {
    if (shard.size() != 2) continue;
    for (const auto& name : HOSTLER_TRY(names_in(folder_ / shard)))
      if (!name.ends_with(".by")) {
        const auto blob = folder_ / shard / name;
        bytes_[principal_of(blob)] += file_bytes(blob);
      }
  }
  loaded_ = true;
  return {};
}

Result<void> BlobUse::take(const BlobOwner& owner, std::uint64_t bytes) {
  const MutexLock lock(mutex_);
  HOSTLER_TRY(load());
  std::uint64_t& has = bytes_[owner.principal];
  if (owner.bytes_max && has + bytes > static_cast<std::uint64_t>(*owner.bytes_max))
    return fail(Errc::kOverQuota,
                "blob_bytes_max of " + owner.principal + " is " + exact_size(*owner.bytes_max) +
                    ": " + format_size(static_cast<std::int64_t>(has)) +
                    " of inputs are kept or being sent, and this one does not fit; inputs "
                    "that no job needs are removed a day after their last use");
  has += bytes;
  return {};
}

void BlobUse::lower(const std::string& principal, std::uint64_t bytes) {
  std::uint64_t& has = bytes_[principal];
  has -= std::min(has, bytes);
}

void BlobUse::give_back(const std::string& principal, std::uint64_t bytes) {
  const MutexLock lock(mutex_);
  lower(principal, bytes);
}

Result<std::uint64_t> BlobUse::of(const std::string& principal) {
  const MutexLock lock(mutex_);
  HOSTLER_TRY(load());
  const auto found = bytes_.find(principal);
  return found == bytes_.end() ? 0 : found->second;
}

Result<void> BlobUse::keep(const std::filesystem::path& upload, const std::filesystem::path& named,
                           const std::filesystem::path& blob, const std::string& principal,
                           std::uint64_t bytes) {
  const auto move = [](const std::filesystem::path& from,
                       const std::filesystem::path& to) -> Result<void> {
    if (::rename(from.c_str(), to.c_str()) == 0) return {};
    return tl::unexpected(errno_error("rename to " + to.string(), Errc::kUnavailable));
  };
  const MutexLock lock(mutex_);
  std::error_code ignored;
  const bool was_there = std::filesystem::exists(blob, ignored);
  if (!was_there && !named.empty()) HOSTLER_TRY(move(named, name_file(blob)));
  HOSTLER_TRY(move(upload, blob));
  if (was_there) lower(principal, bytes);
  return {};
}

Result<void> BlobUse::remove(const std::filesystem::path& blob) {
  const MutexLock lock(mutex_);
  const std::string principal = principal_of(blob);
  const std::uint64_t bytes = file_bytes(blob);
  if (::unlink(blob.c_str()) != 0 && errno != ENOENT)
    return tl::unexpected(errno_error("remove " + blob.string()));
  ::unlink(name_file(blob).c_str());
  if (loaded_) lower(principal, bytes);
  return {};
}

}  // namespace hostler::store
