#include "installation.h"

#include <dlfcn.h>
#include <limits.h>
#include <unistd.h>

#include <hostler/driver.hpp>

#include "folder/files.h"
#include "program.h"

namespace hostler::local {
namespace {

using driver::Error;

/// The folder of this library; empty if it was loaded from memory.
std::string own_folder() {
  Dl_info info{};
  if (::dladdr(reinterpret_cast<const void*>(&checked_installation), &info) == 0) return "";
  std::string path = info.dli_fname;
  // The host program loads the open file that it has checked.
  if (path.compare(0, 6, "/proc/") == 0) {
    char target[PATH_MAX];
    const ssize_t n = ::readlink(path.c_str(), target, sizeof target);
    path = n < 0 ? "" : std::string(target, static_cast<std::size_t>(n));
  }
  const auto slash = path.rfind('/');
  return slash == std::string::npos || path[0] != '/' ? "" : path.substr(0, slash + 1);
}

/// A path to the file that the host has checked, whatever stands beside the driver by now.
std::string open_supervisor(const hostler_host& host, const hostler_ext_host_files& files) {
  const int fd = files.descriptor(&host, kSupervisor);
  if (fd >= 0) return "/proc/self/fd/" + std::to_string(fd);
  throw Error(HOSTLER_E_INVALID,
              std::string("the driver's manifest names no file ") + kSupervisor +
                  ": write it again with 'hostler driver manifest --sandbox none --file " +
                  kSupervisor + " local.hostler.so'");
}

bool can_run(const std::string& path) { return ::access(path.c_str(), X_OK) == 0; }

void check_program(const char* field, const std::string& path) {
  if (can_run(path)) return;
  throw Error(HOSTLER_E_INVALID, std::string("config.") + field + ": there is no program " + path +
                                     "; install it, or configure the path");
}

}  // namespace

Config checked_installation(Config config, const hostler_host& host) {
  check_program("sshd", config.sshd);
  check_program("ssh_keygen", config.ssh_keygen);
  const auto* const files = driver::host_files(host);
  if (!config.supervisor.empty()) {
    if (files != nullptr && (files->flags & HOSTLER_HOST_FILES_ONLY) != 0)
      throw Error(HOSTLER_E_INVALID,
                  "config.supervisor: driver_trust of this site allows the program of the driver's "
                  "manifest only; remove this setting");
    check_program("supervisor", config.supervisor);
  } else if (files != nullptr) {
    config.supervisor = open_supervisor(host, *files);
  } else {
    config.supervisor = own_folder() + kSupervisor;
    check_program("supervisor", config.supervisor);
  }
  return config;
}

void prepare_machine(const Config& config, const Account& account, hostler_op* op) {
  // The path is compiled into sshd. Usually a service manager creates this folder at boot.
  if (account.uid == 0) make_folder("/run/sshd", 0755);
  if (account.can_log_in()) return;
  const bool namespaces = config.confinement != "subreapers" &&
                          run_program({config.supervisor, "--probe"}, op, kSupervisor) == 0;
  if (!namespaces)
    throw Error(HOSTLER_E_INVALID,
                "the account " + account.name + " cannot log in (shell " + account.shell +
                    "), and without namespaces an instance has no account of its own: run hostler "
                    "as another user, or allow user namespaces");
}

}  // namespace hostler::local
