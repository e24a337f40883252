#include "core/agent/host/system/device_guard.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "core/agent/host/system/os.h"

namespace hostler::agent {
namespace {

using model::CardGuard;

constexpr std::uint32_t kTriedSlot = 0;  ///< Attempts have those from 1 on.

std::optional<DeviceNumber> device_number(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0 || !S_ISCHR(info.st_mode)) return std::nullopt;
  return DeviceNumber{major(info.st_rdev), minor(info.st_rdev)};
}

// ---- the controller `devices` of v1 ------------------------------------------------------------

Result<void> write_rule(const std::string& file, const DeviceNumber& number) {
  const UniqueFd fd(::open(file.c_str(), O_WRONLY | O_CLOEXEC));
  if (!fd) return tl::unexpected(os_error("open " + file));
  const std::string rule =
      "c " + std::to_string(number.major) + ":" + std::to_string(number.minor) + " rwm";
  return write_all(fd.get(), rule, file);
}

/// An earlier attempt of the slot may have been denied what is this one's own.
Result<void> set_rules(const std::string& folder, const std::set<DeviceNumber>& denied,
                       const std::set<DeviceNumber>& own) {
  for (const DeviceNumber& number : denied)
    HOSTLER_TRY(write_rule(folder + "/devices.deny", number));
  for (const DeviceNumber& number : own) HOSTLER_TRY(write_rule(folder + "/devices.allow", number));
  return {};
}

/// Where the cgroup above allows only what it lists, a wide entry there outlives a rule of one
/// device. In a container, rules may be seen and not be written.
bool takes_rules(const std::string& folder) {
  return read_small((folder + "/devices.list").c_str(), 64).starts_with("a *:* rwm") &&
         write_rule(folder + "/devices.deny", {0, 0}).has_value();
}

}  // namespace

void DeviceGuard::open(CardGuard most) {
  owners_.open();
  kind_ = ::geteuid() == 0 ? best_of(most) : CardGuard::kNone;
}

CardGuard DeviceGuard::best_of(CardGuard most) {
  const std::set<DeviceNumber> nothing;
  const auto tried = [&] { return cgroups_.prepare(kTriedSlot, {}, true).devices; };
  if (most >= CardGuard::kBpf && cgroups_.choose_devices(Cgroups::Version::kV2) &&
      set_device_program(tried(), nothing))
    return CardGuard::kBpf;
  if (most >= CardGuard::kCgroup1 && cgroups_.choose_devices(Cgroups::Version::kV1) &&
      takes_rules(tried()))
    return CardGuard::kCgroup1;
  (void)cgroups_.choose_devices(Cgroups::Version::kNone);
  return most >= CardGuard::kOwners ? CardGuard::kOwners : CardGuard::kNone;
}

std::vector<std::string> DeviceGuard::set_files(const std::vector<std::string>& files) {
  std::map<std::string, std::optional<DeviceNumber>> next;
  for (const std::string& file : files) next[file] = files_[file];
  files_ = std::move(next);
  look_again();
  std::vector<std::string> left_out;
  for (const auto& [path, number] : files_)
    if (!number) left_out.push_back(path);
  return left_out;
}

void DeviceGuard::look_again() {
  for (auto& [path, number] : files_)
    if (const auto now = device_number(path)) number = now;
}

Result<void> DeviceGuard::confine(const CardHolder& holder) {
  const std::string folder = cgroups_.devices(holder.slot);
  if (folder.empty())
    return fail(Errc::kInternal,
                "no cgroup could be made that keeps the job from the cards of "
                "others: look whether the file system of cgroups can be written");
  look_again();
  std::set<DeviceNumber> own;
  std::set<DeviceNumber> denied;
  for (const std::string& file : holder.files)
    if (const auto found = files_.find(file); found != files_.end() && found->second)
      own.insert(*found->second);
  for (const auto& [path, number] : files_)
    if (number && !own.contains(*number)) denied.insert(*number);
  return kind_ == CardGuard::kBpf ? set_device_program(folder, denied)
                                  : set_rules(folder, denied, own);
}

Result<void> DeviceGuard::share_out(const std::vector<CardHolder>& holders) {
  std::map<std::string, std::uint32_t> users;
  for (const auto& [path, number] : files_) users[path] = 0;
  for (const CardHolder& holder : holders)
    for (const std::string& file : holder.files)
      if (const auto found = users.find(file); found != users.end()) found->second = holder.uid;
  return owners_.set(users);
}

}  // namespace hostler::agent
