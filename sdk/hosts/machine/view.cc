#include "sdk/hosts/machine/view.h"

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <linux/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>

#include "sdk/hosts/system/failure.h"
#include "sdk/hosts/system/files.h"

// <sys/mount.h> of glibc 2.36 and <linux/mount.h> do not go together; this one call is all there
// is.
extern "C" int mount(const char* source, const char* target, const char* type, unsigned long flags,
                     const void* data) noexcept;

namespace hostler::machines {
namespace {

constexpr unsigned long kNoSuid = 2;
constexpr unsigned long kNoDev = 4;
constexpr unsigned long kNoExec = 8;
constexpr unsigned long kBind = 4096;
constexpr unsigned long kRecursive = 16384;

void attach(const std::string& source, const std::string& target, const char* type,
            unsigned long flags, const std::string& data = "") {
  if (::mount(source.c_str(), target.c_str(), type, flags, data.c_str()) != 0)
    fail_errno("mount " + std::string(type != nullptr ? type : "a part") + " over " + target);
}

void make_read_only(const char* path, bool recursive) {
  mount_attr attributes{};
  attributes.attr_set = MOUNT_ATTR_RDONLY;
  if (::syscall(SYS_mount_setattr, AT_FDCWD, path, recursive ? AT_RECURSIVE : 0, &attributes,
                sizeof attributes) != 0)
    fail_errno(std::string("make read-only ") + path);
}

bool is_folder(const char* path) {
  struct stat st {};
  return ::lstat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

void mount_empty(const char* path, const char* mode) {
  if (is_folder(path))
    attach("tmpfs", path, "tmpfs", kNoSuid | kNoDev, std::string("mode=") + mode);
}

/// /proc of the machine's own processes. Kernel settings are shared with this system, so they are
/// read-only.
void mount_proc(const Account& account) {
  attach("proc", "/proc", "proc", kNoSuid | kNoDev | kNoExec);
  if (!account.is_root()) return;
  for (const char* path : {"/proc/sys", "/proc/sysrq-trigger", "/proc/irq", "/proc/bus"}) {
    if (!is_there(path)) continue;
    attach(path, path, nullptr, kBind);
    make_read_only(path, false);
  }
}

void mount_dev(const Account& account) {
  const std::string dev = std::string(kScratch) + "/dev";
  make_folder(dev, 0755);
  attach("tmpfs", dev, "tmpfs", kNoSuid, "mode=755");
  for (const char* name : {"null", "zero", "full", "random", "urandom", "tty"}) {
    const std::string node = dev + "/" + name;
    write_file(node, "", 0666);
    attach(std::string("/dev/") + name, node, nullptr, kBind);
  }
  make_folder(dev + "/shm", 01777);
  make_folder(dev + "/pts", 0755);
  attach("devpts", dev + "/pts", "devpts", kNoSuid | kNoExec,
         account.is_root() ? "newinstance,ptmxmode=666,mode=620,gid=5"
                           : "newinstance,ptmxmode=666,mode=620");
  const std::pair<const char*, const char*> links[] = {{"pts/ptmx", "ptmx"},
                                                       {"/proc/self/fd", "fd"},
                                                       {"/proc/self/fd/0", "stdin"},
                                                       {"/proc/self/fd/1", "stdout"},
                                                       {"/proc/self/fd/2", "stderr"}};
  for (const auto& [to, name] : links)
    if (::symlink(to, (dev + "/" + name).c_str()) != 0)
      fail_errno("make the link /dev/" + std::string(name));
  attach(dev, "/dev", nullptr, kBind | kRecursive);
}

/// True if changes below `path` now go into memory. Not where the file system does not allow it.
bool overlay(const std::string& path) {
  const std::string upper = std::string(kScratch) + "/upper" + path;
  const std::string work = std::string(kScratch) + "/work" + path;
  struct stat st {};
  if (::lstat(path.c_str(), &st) != 0 || !S_ISDIR(st.st_mode)) return false;
  make_folder(upper, st.st_mode & 07777);
  make_folder(work, 0700);
  const std::string data = "lowerdir=" + path + ",upperdir=" + upper + ",workdir=" + work;
  return ::mount("overlay", path.c_str(), "overlay", 0, data.c_str()) == 0;
}

int remove_entry(const char* path, const struct stat*, int, FTW*) {
  return ::remove(path) == 0 ? 0 : -1;
}

/// What a driver's machine must not find: an agent of this system.
void hide_agent() {
  constexpr const char* kFolder = "/var/lib/hostler-agent";
  if (is_there(kFolder)) ::nftw(kFolder, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

void write_accounts(const Account& account, bool writable) {
  const std::pair<const char*, std::string> files[] = {{"/etc/passwd", passwd_of(account)},
                                                       {"/etc/shadow", shadow_of(account)}};
  for (const auto& [path, text] : files) {
    if (!is_there(path)) continue;
    const unsigned mode = std::string_view(path) == "/etc/passwd" ? 0644 : 0600;
    const std::string beside = std::string(kScratch) + (mode == 0644 ? "/passwd" : "/shadow");
    write_file(writable ? path : beside, text, mode);
    if (!writable) attach(beside, path, nullptr, kBind);
  }
}

}  // namespace

void build_view(const Account& account) {
  attach("none", "/", nullptr, kRecursive | (1UL << 18));  // MS_PRIVATE
  make_read_only("/", true);
  attach("tmpfs", kScratch, "tmpfs", kNoSuid, "mode=700");
  mount_proc(account);
  mount_dev(account);
  bool etc = false;
  bool var = false;
  if (account.is_root()) {
    for (const char* name : {"/upper", "/work"}) make_folder(kScratch + std::string(name), 0755);
    etc = overlay("/etc");
    var = overlay("/var");
    for (const char* path : {"/usr", "/opt"}) overlay(path);
  }
  write_accounts(account, etc);
  if (var)
    hide_agent();
  else
    mount_empty("/var/lib", "755");
  for (const char* path : {"/tmp", "/var/tmp"}) mount_empty(path, "1777");
  for (const char* path : {"/run", "/home", "/var/log", "/etc/ssh"}) mount_empty(path, "755");
  mount_empty("/root", "700");
  mount_empty(kScratch, "755");  // what is below stays in use
}

}  // namespace hostler::machines
