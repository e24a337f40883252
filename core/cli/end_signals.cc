#include "core/cli/end_signals.h"

#include <signal.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>

namespace hostler::cli {
namespace {

constexpr std::array kEndSignals{SIGINT, SIGQUIT, SIGHUP, SIGTERM};

// A signal handler may touch only these.
std::atomic<int> last_signal{0};
std::atomic<pid_t> child_process{0};
static_assert(std::atomic<int>::is_always_lock_free);
static_assert(std::atomic<pid_t>::is_always_lock_free);

std::array<struct sigaction, kEndSignals.size()> handlers_before{};

void note_signal(int number) {
  const int error = errno;
  last_signal = number;
  if (const pid_t child = child_process; child > 0) ::kill(child, number);
  errno = error;
}

}  // namespace

EndSignals::EndSignals() {
  last_signal = 0;
  struct sigaction noted {};
  noted.sa_handler = note_signal;
  for (std::size_t i = 0; i < kEndSignals.size(); ++i) {
    ::sigaction(kEndSignals[i], nullptr, &handlers_before[i]);
    if (handlers_before[i].sa_handler != SIG_IGN) ::sigaction(kEndSignals[i], &noted, nullptr);
  }
}

EndSignals::~EndSignals() {
  for (std::size_t i = 0; i < kEndSignals.size(); ++i)
    ::sigaction(kEndSignals[i], &handlers_before[i], nullptr);
  last_signal = 0;
}

int EndSignals::came() { return last_signal; }

void EndSignals::set_child(pid_t child) {
  child_process = child;
  if (const int number = last_signal; number != 0) ::kill(child, number);
}

void EndSignals::end_child() { child_process = 0; }

}  // namespace hostler::cli
