#include "core/base/cgroups.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>

#include "core/base/files.h"
#include "core/base/text.h"

namespace hostler {
namespace {

/// As systemd's DelegateSubgroup= names the cgroup of a service's own processes.
constexpr std::string_view kOwnSubgroup = "/daemon";

std::string read_small(const std::string& path, std::size_t max = std::size_t{64} << 10U) {
  return read_file(path, max).value_or("");
}

bool write_value(const std::string& path, const std::string& value) {
  const UniqueFd fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  return fd && ::write(fd.get(), value.data(), value.size()) == static_cast<ssize_t>(value.size());
}

bool exists(const std::string& path) { return ::access(path.c_str(), F_OK) == 0; }

std::string limit_text(std::uint64_t value, const char* none) {
  return value == 0 ? none : std::to_string(value);
}

std::uint64_t number_in(const std::string& path) {
  const std::string text = read_small(path, 64);
  return parse_u64(std::string_view(text).substr(0, text.find('\n'))).value_or(0);
}

/// True if earlier jobs left much memory in the cgroup that the kernel cannot reclaim, such as
/// files in /dev/shm. It would count against the limit of the next job.
bool has_leftover_memory(const std::string& folder, std::uint64_t ram_max) {
  if (ram_max == 0) return false;
  const std::uint64_t kept_max = ram_max / 8;
  const std::uint64_t used =
      std::max(number_in(folder + "/memory.current"), number_in(folder + "/memory.usage_in_bytes"));
  if (used <= kept_max) return false;
  if (used > ram_max) return true;
  const std::string text = read_small(folder + "/memory.stat");
  for (const std::string_view line : split(text, '\n'))
    if (line.starts_with("shmem ")) return parse_u64(line.substr(6)).value_or(0) > kept_max;
  return false;
}

}  // namespace

/// The path of this process in the hierarchy of `controller`; "": v2.
std::string Cgroups::own_path(const std::string& controller) const {
  const std::string text = read_small(own_);
  for (const std::string_view line : split(text, '\n')) {
    const auto fields = split(line, ':');
    if (fields.size() < 3) continue;
    for (const std::string_view name : split(fields[1], ','))
      if (name == controller) return fields[2] == "/" ? "" : std::string(fields[2]);
  }
  return "";
}

/// Beside the cgroup of this process where a service has been given cgroups and its processes one
/// of their own below (`Delegate=`, `DelegateSubgroup=`). Else at the top, beside the slices of
/// systemd, which takes root: a cgroup with processes must not have children.
std::string Cgroups::base_of_v2(const std::string& name) const {
  std::string own = own_path("");
  if (!own.ends_with(kOwnSubgroup)) return root_ + "/" + name;
  own.resize(own.size() - kOwnSubgroup.size());
  return root_ + own + "/" + name;
}

/// Passes the controllers on: from the cgroup above to the base, and from there to the slots.
bool Cgroups::make_base(const std::string& base) const {
  std::string all;
  for (const auto& controller : controllers_) all += (all.empty() ? "+" : " +") + controller;
  const bool is_v2 = version_ == Version::kV2;
  if (is_v2) (void)write_value(base.substr(0, base.rfind('/')) + "/cgroup.subtree_control", all);
  if (::mkdir(base.c_str(), 0755) != 0 && errno != EEXIST) return false;
  if (DIR* dir = ::opendir(base.c_str()); dir != nullptr) {
    while (const dirent* entry = ::readdir(dir))
      if (parse_u64(entry->d_name)) (void)::rmdir((base + "/" + entry->d_name).c_str());
    ::closedir(dir);
  }
  return !is_v2 || write_value(base + "/cgroup.subtree_control", all);
}

void Cgroups::open(const std::string& name) {
  const auto has_v1 = [&](const std::string& controller) {
    return exists(root_ + "/" + controller + "/cgroup.procs");
  };
  if (exists(root_ + "/cgroup.controllers")) {
    version_ = Version::kV2;
    bases_ = {base_of_v2(name)};
  } else if (std::ranges::all_of(controllers_, has_v1)) {
    version_ = Version::kV1;
    for (const auto& controller : controllers_)
      bases_.push_back(root_ + "/" + controller + own_path(controller) + "/" + name);
  }
  if (std::ranges::all_of(bases_, [&](const auto& base) { return make_base(base); })) return;
  for (const std::string& base : bases_) (void)::rmdir(base.c_str());
  bases_.clear();
  version_ = Version::kNone;
}

Cgroups::Folders Cgroups::prepare(std::uint32_t slot, const CgroupLimits& limits) {
  const bool has_limits =
      limits.ram_max != 0 || limits.processes_max != 0 || limits.cpu_weight != 0;
  if (version_ == Version::kNone || !has_limits) return {};
  return make_limited(slot, limits);
}

Cgroups::Folders Cgroups::make(std::uint32_t slot) {
  return version_ == Version::kNone ? Folders() : make_limited(slot, {});
}

void Cgroups::adopt(std::uint32_t slot) {
  if (!folders(slot).empty()) made_.insert(slot);
}

Cgroups::Folders Cgroups::make_limited(std::uint32_t slot, const CgroupLimits& limits) {
  // remove_idle() has removed the base with the last cgroup: a new one passes no controllers on.
  if (made_.empty() && !std::ranges::all_of(bases_, [&](const auto& b) { return make_base(b); }))
    return {};
  // The second round replaces a cgroup that still holds memory of an earlier job.
  for (int i = 0; i < 2; ++i) {
    Folders out;
    for (const std::string& base : bases_) {
      out.push_back(base + "/" + std::to_string(slot));
      if (made_.contains(slot)) continue;
      if (::mkdir(out.back().c_str(), 0755) != 0 && errno != EEXIST) return {};
    }
    made_.insert(slot);
    if (set_limits(out, limits) && (i > 0 || !has_leftover_memory(out[0], limits.ram_max)))
      return out;
    for (const std::string& folder : out) (void)::rmdir(folder.c_str());
    made_.erase(slot);
  }
  return {};
}

bool Cgroups::set_limits(const Folders& folders, const CgroupLimits& limits) const {
  const auto& [ram, processes, weight] = limits;
  const bool is_v2 = version_ == Version::kV2;
  for (std::size_t i = 0; i < controllers_.size(); ++i) {
    const std::string& folder = folders[is_v2 ? 0 : i];
    const std::string& of = controllers_[i];
    bool done = true;
    if (of == "pids") {
      done = write_value(folder + "/pids.max", limit_text(processes, "max"));
    } else if (of == "cpu" && weight != 0) {
      done = is_v2 ? write_value(folder + "/cpu.weight", std::to_string(weight))
                   : write_value(folder + "/cpu.shares", std::to_string(weight * 1024 / 100));
    } else if (of == "memory" && is_v2) {
      (void)write_value(folder + "/memory.swap.max", ram == 0 ? "max" : "0");
      done = write_value(folder + "/memory.max", limit_text(ram, "max"));
    } else if (of == "memory") {
      (void)write_value(folder + "/memory.max_usage_in_bytes", "0");
      done = write_value(folder + "/memory.limit_in_bytes", limit_text(ram, "-1"));
    }
    if (!done) return false;
  }
  return true;
}

Cgroups::Folders Cgroups::folders(std::uint32_t slot) const {
  Folders out;
  for (const std::string& base : bases_)
    if (const std::string path = base + "/" + std::to_string(slot); exists(path))
      out.push_back(path);
  return out;
}

void Cgroups::remove_idle(const std::set<std::uint32_t>& used) {
  for (auto at = made_.begin(); at != made_.end();) {
    const bool idle = !used.contains(*at);
    if (idle)
      for (const std::string& base : bases_)
        (void)::rmdir((base + "/" + std::to_string(*at)).c_str());
    at = idle ? made_.erase(at) : std::next(at);
  }
  if (made_.empty())
    for (const std::string& base : bases_) (void)::rmdir(base.c_str());
}

std::int64_t Cgroups::ram_peak(const Folders& folders) {
  if (folders.empty()) return 0;
  // v1 only. Before Linux 6.12, memory.peak of v2 cannot be reset, so it would include earlier
  // jobs.
  return static_cast<std::int64_t>(number_in(folders[0] + "/memory.max_usage_in_bytes"));
}

std::uint64_t Cgroups::memory_kills(const Folders& folders) {
  if (folders.empty()) return 0;
  std::string text = read_small(folders[0] + "/memory.events", 4096);
  if (text.empty()) text = read_small(folders[0] + "/memory.oom_control", 4096);
  for (const std::string_view line : split(text, '\n'))
    if (line.starts_with("oom_kill ")) return parse_u64(line.substr(9)).value_or(0);
  return 0;
}

void Cgroups::kill(const Folders& folders) {
  if (folders.empty() || write_value(folders[0] + "/cgroup.kill", "1")) return;
  const std::string text = read_small(folders[0] + "/cgroup.procs", std::size_t{1} << 20U);
  for (const std::string_view line : split(text, '\n'))
    if (const auto pid = parse_u64(line); pid && *pid > 1)
      ::kill(static_cast<pid_t>(*pid), SIGKILL);
}

// "38 31 0:37 / /sys/fs/cgroup/unified rw,relatime shared:9 - cgroup2 cgroup2 rw"
Cgroups::Folders Cgroups::mounts_of_v2(const std::string& mounts) {
  constexpr std::size_t kMountPoint = 4;
  Folders out;
  const std::string text = read_small(mounts, std::size_t{4} << 20U);
  for (const std::string_view line : split(text, '\n')) {
    const std::size_t dash = line.find(" - cgroup2 ");
    if (dash == std::string_view::npos) continue;
    const auto fields = split(line.substr(0, dash), ' ');
    // A backslash stands for a character that the kernel has escaped: such a folder is not used.
    if (fields.size() > kMountPoint && fields[kMountPoint].find('\\') == std::string_view::npos)
      out.emplace_back(fields[kMountPoint]);
  }
  return out;
}

}  // namespace hostler
