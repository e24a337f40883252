#include "core/driver_host/child/process_state.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <clocale>
#include <filesystem>
#include <iterator>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>

#include "core/base/files.h"
#include "core/driver_host/child/crash_report.h"

namespace hostler::driver_host {
namespace {

/// Each handler as text.
std::string signal_handlers() {
  std::string out;
  for (const int signal : {SIGHUP, SIGINT, SIGQUIT, SIGILL, SIGABRT, SIGBUS, SIGFPE, SIGUSR1,
                           SIGSEGV, SIGUSR2, SIGPIPE, SIGALRM, SIGTERM, SIGCHLD, SIGSYS}) {
    struct sigaction action {};
    (void)::sigaction(signal, nullptr, &action);
    if (reports_crash(signal)) continue;
    out += std::to_string(signal) + ":" +
           std::to_string(reinterpret_cast<std::uintptr_t>(action.sa_handler)) + " ";
  }
  return out;
}

std::string environment() {
  std::string out;
  for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable)
    out.append(*variable).push_back('\n');
  return out;
}

std::string working_directory() {
  std::error_code none;
  return std::filesystem::current_path(none).string();
}

/// Only this file shows it without changing it, and it needs a descriptor.
std::optional<std::string> file_mode_mask() {
  const auto status = read_file("/proc/self/status", std::size_t{64} << 10U);
  const auto at = status ? status->find("Umask:") : std::string::npos;
  if (at == std::string::npos) return std::nullopt;
  return status->substr(at, status->find('\n', at) - at);
}

std::size_t count_threads() {
  std::error_code error;
  const std::filesystem::directory_iterator tasks("/proc/self/task", error);
  if (error) return 1;
  return static_cast<std::size_t>(std::distance(begin(tasks), end(tasks)));
}

}  // namespace

std::vector<ProcessState::Part> ProcessState::read() {
  const char* const locale = std::setlocale(LC_ALL, nullptr);
  return {{"handlers of signals", signal_handlers()},
          {"the locale", locale == nullptr ? "" : locale},
          {"the working directory", working_directory()},
          {"the environment", environment()},
          {"the umask", file_mode_mask()}};
}

std::vector<std::string> ProcessState::changes() {
  std::vector<std::string> out;
  auto now = read();
  for (std::size_t i = 0; i < now.size(); ++i) {
    if (!now[i].value || now[i].value == seen_[i].value) continue;
    out.emplace_back(now[i].name);
    seen_[i] = std::move(now[i]);
  }
  return out;
}

bool has_used_up_descriptors() {
  const UniqueFd one(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0));
  return !one && errno == EMFILE;
}

std::size_t other_threads() {
  // The kernel still counts a thread for a moment after it has been joined.
  constexpr int kLooks = 100;
  std::size_t others = count_threads() - 1;
  for (int look = 0; others > 0 && look < kLooks; ++look) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    others = count_threads() - 1;
  }
  return others;
}

}  // namespace hostler::driver_host
