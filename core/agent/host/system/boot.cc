#include "core/agent/host/system/boot.h"

#include <sys/stat.h>

#include <cstdlib>

#include "core/agent/host/system/os.h"
#include "core/base/text.h"

namespace hostler::agent {

std::string boot_id() {
  if (const char* given = std::getenv("HOSTLER_BOOT_ID"); given != nullptr && *given != '\0')
    return std::string(given).substr(0, 128);
  const std::string kernel = read_small("/proc/sys/kernel/random/boot_id");
  const std::string first = read_small("/proc/1/stat");
  if (kernel.empty() || first.empty()) return "unknown-" + random_hex(16);
  const std::string rest = first.substr(first.rfind(')') + 1);
  const auto fields = split(rest, ' ');  // "", state (field 3 of proc(5)), ...
  const std::string start(fields.size() > 20 ? fields[20] : "");
  const std::string text = kernel + start;
  return "k-" + std::to_string(fnv1a(text)) + "-" + std::to_string(fnv1a(text + "2"));
}

bool is_in_first_pid_namespace() {
  constexpr ino_t kFirst = 0xEFFFFFFCU;  // PROC_PID_INIT_INO of Linux
  struct stat info {};
  return ::stat("/proc/self/ns/pid", &info) == 0 && info.st_ino == kFirst;
}

}  // namespace hostler::agent
