#include "core/agent/host/system/device_owners.h"

#include <sys/stat.h>
#include <unistd.h>

#include <utility>

#include "core/agent/host/system/os.h"
#include "core/base/text.h"

namespace hostler::agent {
namespace {

constexpr const char* kOwnersFile = "card_owners";
constexpr std::size_t kOwnersMax = std::size_t{8} << 20U;
constexpr std::uint32_t kOwnMode = 0600;

/// "uid gid mode path", numbers as decimal.
std::optional<std::pair<std::string, FileOwner>> parse_line(std::string_view line) {
  std::uint32_t numbers[3];
  for (std::uint32_t& number : numbers) {
    const std::size_t space = line.find(' ');
    if (space == std::string_view::npos) return std::nullopt;
    const auto value = parse_u64(line.substr(0, space));
    if (!value || *value > UINT32_MAX) return std::nullopt;
    number = static_cast<std::uint32_t>(*value);
    line.remove_prefix(space + 1);
  }
  if (!line.starts_with('/') || numbers[2] > 07777) return std::nullopt;
  return std::pair(std::string(line), FileOwner{numbers[0], numbers[1], numbers[2]});
}

}  // namespace

std::optional<FileOwner> HostFiles::look(const std::string& path) const {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0 || !S_ISCHR(info.st_mode)) return std::nullopt;
  return FileOwner{info.st_uid, info.st_gid, info.st_mode & 07777U};
}

Result<void> HostFiles::change(const std::string& path, const FileOwner& owner) {
  const auto now = look(path);
  if (!now) return fail(Errc::kInternal, path + " is no character device any more");
  if (::chmod(path.c_str(), now->mode & owner.mode) != 0)
    return tl::unexpected(os_error("change the mode of " + path));
  if (::chown(path.c_str(), owner.uid, owner.gid) != 0)
    return tl::unexpected(os_error("change the owner of " + path));
  if (::chmod(path.c_str(), owner.mode) != 0)
    return tl::unexpected(os_error("change the mode of " + path));
  return {};
}

void DeviceOwners::open() {
  before_.clear();
  const std::string text = read_small(kOwnersFile, kOwnersMax);
  for (const std::string_view line : split(text, '\n'))
    if (auto kept = parse_line(line)) before_.insert(*std::move(kept));
}

Result<void> DeviceOwners::set(const std::map<std::string, std::uint32_t>& users) {
  give_back_others(users);
  auto kept = before_;
  for (const auto& [path, uid] : users) {
    // The lines of the file end with a path.
    if (kept.contains(path) || path.find('\n') != std::string::npos) continue;
    if (const auto now = files_.look(path)) kept[path] = *now;
  }
  if (kept.size() != before_.size()) HOSTLER_TRY(save(kept));
  before_ = std::move(kept);
  for (const auto& [path, uid] : users) {
    const FileOwner wanted{uid, 0, kOwnMode};
    const auto now = files_.look(path);
    if (now && *now != wanted && before_.contains(path)) HOSTLER_TRY(files_.change(path, wanted));
  }
  return {};
}

void DeviceOwners::give_back_others(const std::map<std::string, std::uint32_t>& users) {
  const std::size_t known = before_.size();
  for (auto at = before_.begin(); at != before_.end();) {
    const bool stays =
        users.contains(at->first) ||
        (files_.look(at->first) && !files_.change(at->first, at->second).has_value());
    at = stays ? std::next(at) : before_.erase(at);
  }
  // If this fails, the next process gives the same back once more.
  if (before_.size() != known) (void)save(before_);
}

Result<void> DeviceOwners::save(const Owners& kept) {
  if (kept.empty() && ::unlink(kOwnersFile) == 0) return {};
  std::string text;
  for (const auto& [path, owner] : kept)
    text += std::to_string(owner.uid) + " " + std::to_string(owner.gid) + " " +
            std::to_string(owner.mode) + " " + path + "\n";
  return write_file(kOwnersFile, text, kOwnMode);
}

}  // namespace hostler::agent
