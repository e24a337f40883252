#include "tests/integration/chaos/host_state.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <clocale>
#include <cstdlib>
#include <filesystem>
#include <iterator>

namespace hostler::chaos_table {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMany = 50;  // descriptors, threads

std::size_t count(const char* folder) {
  std::error_code error;
  const fs::directory_iterator entries(folder, error);
  return error ? 0 : static_cast<std::size_t>(std::distance(begin(entries), end(entries)));
}

/// The same for all small numbers.
std::string rounded(std::size_t n, std::size_t step) { return std::to_string(n / step); }

std::string handler_of(int signal) {
  struct sigaction action {};
  (void)::sigaction(signal, nullptr, &action);
  return std::to_string(reinterpret_cast<std::uintptr_t>(action.sa_handler));
}

std::string umask_now() {
  const mode_t mask = ::umask(0);
  ::umask(mask);
  return std::to_string(mask);
}

bool is_open(int fd) { return ::fcntl(fd, F_GETFD) >= 0; }

bool can_open() {
  const int one = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  return one >= 0 && ::close(one) == 0;
}

bool has_children() {
  siginfo_t info{};
  return ::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0;
}

}  // namespace

HostState::HostState(std::string output) : output_(std::move(output)) {
  if (::pipe2(pipe_, O_CLOEXEC) != 0) std::abort();
  before_ = read();
}

std::vector<HostState::Part> HostState::read() const {
  pollfd garbage{pipe_[0], POLLIN, 0};
  (void)::poll(&garbage, 1, 0);
  std::error_code error;
  const char* const locale = std::setlocale(LC_ALL, nullptr);
  return {
      {"its SIGTERM is not its own any more", handler_of(SIGTERM)},
      {"its locale is another", locale == nullptr ? "" : locale},
      {"its working directory is another", fs::current_path(error).string()},
      {"its environment is another", std::getenv("HOSTLER_CHAOS") != nullptr ? "yes" : "no"},
      {"its umask is another", umask_now()},
      {"its descriptors are closed", is_open(pipe_[0]) && is_open(pipe_[1]) ? "no" : "yes"},
      {"garbage is in its pipes", (garbage.revents & POLLIN) != 0 ? "yes" : "no"},
      {"its stdout is closed", is_open(STDOUT_FILENO) ? "no" : "yes"},
      {"its stdout has the driver's text", fs::file_size(output_, error) > 0 ? "yes" : "no"},
      {"it has a forked copy of itself", has_children() ? "yes" : "no"},
      {"its descriptors are used up", can_open() ? "no" : "yes"},
      {"it has 100 threads more", rounded(count("/proc/self/task"), kMany)},
  };
}

std::vector<std::string> HostState::damages() const {
  const auto now = read();
  std::vector<std::string> out;
  for (std::size_t i = 0; i < now.size(); ++i)
    if (now[i].value != before_[i].value) out.emplace_back(now[i].damage);
  return out;
}

}  // namespace hostler::chaos_table
