#include "folder/process.h"

#include <cstdio>

#include "folder/files.h"

namespace hostler::local {
namespace {

struct Stat {
  char state = 0;  ///< 0: no such process
  unsigned long long start_ticks = 0;
};

Stat stat_of(pid_t pid) {
  std::optional<std::string> text;
  try {
    text = read_file("/proc/" + std::to_string(pid) + "/stat");
  } catch (const std::exception&) {  // it has ended meanwhile
  }
  if (!text) return {};
  const auto name_end = text->rfind(')');  // the name in brackets may contain anything
  if (name_end == std::string::npos) return {};
  Stat stat;
  // state, 18 numbers that are not needed, start time
  const int found = std::sscanf(text->c_str() + name_end + 1,
                                " %c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "
                                "%*s %*s %*s %llu",
                                &stat.state, &stat.start_ticks);
  return found == 2 ? stat : Stat{};
}

}  // namespace

Process Process::of(pid_t pid) {
  const Stat stat = stat_of(pid);
  return stat.state == 0 ? Process{} : Process{pid, stat.start_ticks};
}

Process Process::parse(std::string_view text) {
  Process process;
  const std::string copy(text);
  if (std::sscanf(copy.c_str(), "%d:%llu", &process.pid, &process.start_ticks) != 2) return {};
  return process;
}

std::string Process::text() const {
  return std::to_string(pid) + ":" + std::to_string(start_ticks);
}

bool Process::runs() const {
  if (pid <= 0) return false;
  const Stat stat = stat_of(pid);
  return stat.state != 0 && stat.state != 'Z' && stat.state != 'X' &&
         stat.start_ticks == start_ticks;
}

}  // namespace hostler::local
