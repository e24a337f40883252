#include "core/driver_host/child/file_access.h"

#include <fcntl.h>
#include <linux/landlock.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdlib>

namespace hostler::driver_host {
namespace {

// What Landlock has learnt since the oldest headers that this builds with.
constexpr std::uint64_t kTruncate = 1U << 14U, kIoctlDevice = 1U << 15U;
constexpr std::uint64_t kScopeAbstractSocket = 1U << 0U, kScopeSignal = 1U << 1U;

/// landlock_ruleset_attr of now. An older kernel takes it if what it does not know is 0.
struct Attributes {
  std::uint64_t files = 0, network = 0, scoped = 0;
};

constexpr std::uint64_t kRead = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;
constexpr std::uint64_t kRun = kRead | LANDLOCK_ACCESS_FS_EXECUTE;
constexpr std::uint64_t kReadWrite =
    LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE | kTruncate;
/// Of a file that is no folder.
constexpr std::uint64_t kOfFile = LANDLOCK_ACCESS_FS_EXECUTE | kReadWrite | kIoctlDevice;

// Libraries and programs of the system. Symbolic links are followed.
constexpr std::array kSystem{"/usr", "/lib", "/lib64", "/bin", "/sbin"};
// Certificates, where the distributions have them; not the private keys beside them. Time, names of
// ports, the number of processors and (of runtimes of Go and Rust) the share of them, random
// numbers.
constexpr std::array kUsual{"/etc/ssl/certs",
                            "/etc/ssl/openssl.cnf",
                            "/etc/ssl/cert.pem",
                            "/etc/ssl/ca-bundle.pem",
                            "/etc/pki/tls/certs",
                            "/etc/pki/tls/cert.pem",
                            "/etc/pki/tls/openssl.cnf",
                            "/etc/pki/tls/openssl.d",
                            "/etc/pki/ca-trust/extracted",
                            "/etc/pki/ca-trust/source",  // GnuTLS by p11-kit reads it itself
                            "/etc/ca-certificates/extracted",
                            "/var/lib/ca-certificates",
                            "/etc/crypto-policies",
                            "/etc/ld.so.cache",
                            "/etc/localtime",
                            "/etc/timezone",
                            "/etc/services",
                            "/etc/protocols",
                            "/sys/devices/system/cpu",
                            "/sys/fs/cgroup",
                            "/dev/zero",
                            "/dev/random",
                            "/dev/urandom"};
// Name resolution. These change while a driver runs, some with each lease of an address.
constexpr std::array kNames{"/etc/resolv.conf", "/etc/hosts", "/etc/host.conf",
                            "/etc/nsswitch.conf", "/etc/gai.conf"};

/// All that the kernel can restrict. Version 1 is of Linux 5.13.
Attributes everything(long version) {
  Attributes all;
  all.files = (LANDLOCK_ACCESS_FS_MAKE_SYM << 1U) - 1;
  if (version >= 2) all.files |= LANDLOCK_ACCESS_FS_REFER;
  if (version >= 3) all.files |= kTruncate;
  if (version >= 5) all.files |= kIoctlDevice;
  if (version >= 6) all.scoped = kScopeAbstractSocket | kScopeSignal;
  return all;
}

Error landlock_error(const std::string& doing) {
  if (errno == ENOSYS)
    return {Errc::kUnavailable, "the kernel has no Landlock (Linux 5.13 or later has it)"};
  if (errno == EOPNOTSUPP)
    return {Errc::kUnavailable,
            "Landlock is switched off: the kernel parameter lsm= must name landlock"};
  if (errno == EPERM)
    return {Errc::kUnavailable,
            doing + " is refused: a system call filter around hostlerd must allow landlock_*"};
  return errno_error(doing, Errc::kUnavailable);
}

/// A set of rules that is being made.
class Rules {
 public:
  Rules(UniqueFd fd, std::uint64_t handled) : fd_(std::move(fd)), handled_(handled) {}

  [[nodiscard]] bool allow(const UniqueFd& file, std::uint64_t access) const {
    struct stat found {};
    if (::fstat(file.get(), &found) != 0) return false;
    if (!S_ISDIR(found.st_mode)) access &= kOfFile;
    const landlock_path_beneath_attr rule{access & handled_, file.get()};
    return ::syscall(SYS_landlock_add_rule, fd_.get(), LANDLOCK_RULE_PATH_BENEATH, &rule, 0) == 0;
  }
  /// False if there is no such file.
  // NOLINTNEXTLINE(modernize-use-nodiscard): most need not exist
  bool allow(const char* path, std::uint64_t access) const {
    const UniqueFd file(::open(path, O_PATH | O_CLOEXEC));
    return file && allow(file, access);
  }
  [[nodiscard]] bool enforce() const {
    return ::syscall(SYS_landlock_restrict_self, fd_.get(), 0) == 0;
  }

 private:
  UniqueFd fd_;
  std::uint64_t handled_;
};

}  // namespace

Result<FileAccess> FileAccess::restrict(const SandboxOptions& options,
                                        const plugin_host::LibraryFile& library) {
  const long version =
      ::syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION);
  if (version < 0) return tl::unexpected(landlock_error("landlock_create_ruleset"));
  const Attributes all = everything(version);
  UniqueFd made(static_cast<int>(::syscall(SYS_landlock_create_ruleset, &all, sizeof all, 0)));
  if (!made) return tl::unexpected(landlock_error("landlock_create_ruleset"));
  const Rules rules(std::move(made), all.files);

  FileAccess out;
  for (const char* path : kSystem)
    rules.allow(path, options.level == model::Sandbox::kFiles ? kRun : kRead);
  for (const char* path : kUsual) rules.allow(path, kRead);
  rules.allow("/dev/null", kReadWrite);
  for (const char* path : kNames) {
    rules.allow(path, kRead);
    out.watch(path);
  }
  for (const char* name : {"SSL_CERT_FILE", "SSL_CERT_DIR"})
    if (const char* path = ::secure_getenv(name); path != nullptr && *path != '\0') {
      rules.allow(path, kRead);
      out.watch(path);
    }
  for (const std::string& path : options.readable) {
    if (!rules.allow(path.c_str(), kRead)) out.missing_.push_back(path);
    out.watch(path);
  }
  out.own_folder_ = UniqueFd(::open("/proc/self", O_PATH | O_CLOEXEC));
  if (out.own_folder_) (void)rules.allow(out.own_folder_, kRead);
  const std::uint64_t own = options.level == model::Sandbox::kFiles
                                ? LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_EXECUTE
                                : LANDLOCK_ACCESS_FS_READ_FILE;
  const bool are_readable = rules.allow(library.fd, LANDLOCK_ACCESS_FS_READ_FILE) &&
                            std::ranges::all_of(library.own_files, [&](const auto& file) {
                              return rules.allow(file.fd, own);
                            });
  if (!are_readable)
    return tl::unexpected(landlock_error("landlock_add_rule for the driver's library"));
  if (!rules.enforce()) return tl::unexpected(landlock_error("landlock_restrict_self"));
  return out;
}

void FileAccess::watch(const std::string& path) {
  struct stat found {};
  if (::stat(path.c_str(), &found) != 0) found = {};
  watched_.push_back({path, found.st_dev, found.st_ino});
}

bool FileAccess::is_outdated() const {
  return std::any_of(watched_.begin(), watched_.end(), [](const Watched& was) {
    struct stat found {};
    if (::stat(was.path.c_str(), &found) != 0) found = {};
    return found.st_dev != was.device || found.st_ino != was.inode;
  });
}

}  // namespace hostler::driver_host
