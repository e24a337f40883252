#include "core/agent/host/system/cgroups.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "core/agent/host/system/os.h"
#include "core/base/text.h"

namespace hostler::agent {
namespace {

constexpr ino_t kFirstPidNamespace = 0xEFFFFFFCU;  // PROC_PID_INIT_INO of Linux
const std::string kRoot = "/sys/fs/cgroup";

bool write_value(const std::string& path, const std::string& value) {
  const UniqueFd fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  return fd && ::write(fd.get(), value.data(), value.size()) == static_cast<ssize_t>(value.size());
}

bool exists(const std::string& path) { return ::access(path.c_str(), F_OK) == 0; }

/// The path of this process in the hierarchy of `controller` ("": v2), from /proc/self/cgroup.
std::string own_path(const std::string& controller) {
  const std::string text = read_small("/proc/self/cgroup");
  for (const std::string_view line : split(text, '\n')) {
    const auto fields = split(line, ':');
    if (fields.size() < 3) continue;
    for (const std::string_view name : split(fields[1], ','))
      if (name == controller) return fields[2] == "/" ? "" : std::string(fields[2]);
  }
  return "";
}

std::string limit_text(std::uint64_t value, const char* none) {
  return value == 0 ? none : std::to_string(value);
}

std::uint64_t number_in(const std::string& path) {
  const std::string text = read_small(path.c_str(), 64);
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
  const std::string text = read_small((folder + "/memory.stat").c_str());
  for (const std::string_view line : split(text, '\n'))
    if (line.starts_with("shmem ")) return parse_u64(line.substr(6)).value_or(0) > kept_max;
  return false;
}

}  // namespace

void Cgroups::open(const std::string& name) {
  struct stat info {};
  if (::geteuid() != 0 || ::stat("/proc/self/ns/pid", &info) != 0 ||
      info.st_ino != kFirstPidNamespace)
    return;
  if (exists(kRoot + "/cgroup.controllers")) {
    // At the top, beside the slices of systemd: the cgroup of this session must not have children.
    (void)write_value(kRoot + "/cgroup.subtree_control", "+memory +pids");
    bases_ = {kRoot + "/" + name};
    kind_ = Limits::kCgroupV2;
  } else if (exists(kRoot + "/memory/cgroup.procs") && exists(kRoot + "/pids/cgroup.procs")) {
    for (const char* controller : {"memory", "pids"})
      bases_.push_back(kRoot + "/" + controller + own_path(controller) + "/" + name);
    kind_ = Limits::kCgroupV1;
  }
  for (const std::string& base : bases_) {
    if (::mkdir(base.c_str(), 0755) != 0 && errno != EEXIST) kind_ = Limits::kNone;
    if (DIR* dir = ::opendir(base.c_str()); dir != nullptr) {
      while (const dirent* entry = ::readdir(dir))
        if (parse_u64(entry->d_name)) (void)::rmdir((base + "/" + entry->d_name).c_str());
      ::closedir(dir);
    }
    if (kind_ == Limits::kCgroupV2 &&
        !write_value(base + "/cgroup.subtree_control", "+memory +pids"))
      kind_ = Limits::kNone;
    if (kind_ != Limits::kNone) continue;
    for (const std::string& each : bases_) (void)::rmdir(each.c_str());
    bases_.clear();
    return;
  }
}

std::vector<std::string> Cgroups::prepare(std::uint32_t slot, std::uint64_t ram_max,
                                          std::uint32_t processes_max) {
  if (kind_ == Limits::kNone || (ram_max == 0 && processes_max == 0)) return {};
  // The second round replaces a cgroup that still holds memory of an earlier job.
  for (int i = 0; i < 2; ++i) {
    std::vector<std::string> out;
    for (const std::string& base : bases_) {
      out.push_back(base + "/" + std::to_string(slot));
      if (made_.contains(slot)) continue;
      (void)::mkdir(base.c_str(), 0755);
      if (::mkdir(out.back().c_str(), 0755) != 0 && errno != EEXIST) return {};
    }
    made_.insert(slot);
    if (set_limits(out, ram_max, processes_max) && (i > 0 || !has_leftover_memory(out[0], ram_max)))
      return out;
    for (const std::string& folder : out) (void)::rmdir(folder.c_str());
    made_.erase(slot);
  }
  return {};
}

bool Cgroups::set_limits(const std::vector<std::string>& folders, std::uint64_t ram_max,
                         std::uint32_t processes_max) const {
  if (kind_ == Limits::kCgroupV2) {
    (void)write_value(folders[0] + "/memory.swap.max", ram_max == 0 ? "max" : "0");
    return write_value(folders[0] + "/memory.max", limit_text(ram_max, "max")) &&
           write_value(folders[0] + "/pids.max", limit_text(processes_max, "max"));
  }
  (void)write_value(folders[0] + "/memory.max_usage_in_bytes", "0");
  return write_value(folders[0] + "/memory.limit_in_bytes", limit_text(ram_max, "-1")) &&
         write_value(folders[1] + "/pids.max", limit_text(processes_max, "max"));
}

std::vector<std::string> Cgroups::folders(std::uint32_t slot) const {
  std::vector<std::string> out;
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

std::int64_t Cgroups::ram_peak(const std::vector<std::string>& folders) {
  if (folders.empty()) return 0;
  // v1 only. Before Linux 6.12, memory.peak of v2 cannot be reset, so it would include earlier
  // jobs.
  return static_cast<std::int64_t>(number_in(folders[0] + "/memory.max_usage_in_bytes"));
}

std::uint64_t Cgroups::memory_kills(const std::vector<std::string>& folders) {
  if (folders.empty()) return 0;
  std::string text = read_small((folders[0] + "/memory.events").c_str(), 4096);
  if (text.empty()) text = read_small((folders[0] + "/memory.oom_control").c_str(), 4096);
  for (const std::string_view line : split(text, '\n'))
    if (line.starts_with("oom_kill ")) return parse_u64(line.substr(9)).value_or(0);
  return 0;
}

void Cgroups::kill(const std::vector<std::string>& folders) {
  if (folders.empty() || write_value(folders[0] + "/cgroup.kill", "1")) return;
  const std::string text = read_small((folders[0] + "/cgroup.procs").c_str(), std::size_t{1} << 20);
  for (const std::string_view line : split(text, '\n'))
    if (const auto pid = parse_u64(line); pid && *pid > 1)
      ::kill(static_cast<pid_t>(*pid), SIGKILL);
}

}  // namespace hostler::agent
