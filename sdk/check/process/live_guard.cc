#include "sdk/check/process/live_guard.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>

#include "sdk/check/process/test_process.h"

namespace hostler::check {
namespace {

constexpr char kDone = 'd';

/// Until the kit says that it is done, or is dead.
bool kit_has_cleaned_up(int life) {
  char said = 0;
  ssize_t n = 0;
  do n = ::read(life, &said, 1);
  while (n < 0 && errno == EINTR);
  return n == 1 && said == kDone;
}

}  // namespace

LiveGuard::LiveGuard(const Test& clean, const Options& options, const Settings& settings) {
  std::array<int, 2> ends{-1, -1};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return;
  const UniqueFd reading(ends[0]);
  life_.reset(ends[1]);
  process_ = ::fork();
  if (process_ != 0) return;
  life_.reset();
  (void)::setsid();
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) (void)::signal(signal, SIG_IGN);
  if (kit_has_cleaned_up(reading.get())) ::_exit(0);
  const std::atomic<bool> never{false};
  (void)run_in_process(clean, options, settings, never);
  ::_exit(0);
}

LiveGuard::~LiveGuard() {
  if (process_ < 0) return;
  (void)!::write(life_.get(), &kDone, 1);
  life_.reset();
  (void)::waitpid(process_, nullptr, 0);
}

}  // namespace hostler::check
