#include "core/driver_host/child/crash_report.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "core/driver_host/wire/frame.h"
#include "core/driver_host/wire/messages.h"
#include "core/plugin_host/driver_library.h"

namespace hostler::driver_host {
namespace {

constexpr std::array kCrashes{SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGSYS};
constexpr std::size_t kStackBytes = std::size_t{64} << 10;

int socket_of_reports = -1;
thread_local std::uint64_t call_of_thread = 0;

/// Only functions that a signal handler may call.
void send_report(std::int32_t signal, std::int32_t exit_status) {
  struct {
    FrameHead head;
    Crash body;
  } message{{sizeof(Crash), FrameType::kCrashed,
             plugin_host::is_in_entry_function() ? kInEntry : std::uint16_t{0}, call_of_thread},
            {signal, exit_status}};
  (void)::send(socket_of_reports, &message, sizeof message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

void on_signal(int signal) {
  send_report(signal, 0);
  // The handler is reset: the same signal now ends the process as if there had been none.
  (void)::raise(signal);
}

void on_exit_called(int status, void* /*argument*/) {
  send_report(0, status);
  ::_exit(status == 0 ? EXIT_FAILURE : status);
}

}  // namespace

void report_crashes_to(int socket) {
  socket_of_reports = socket;
  struct sigaction action {};
  action.sa_handler = &on_signal;
  action.sa_flags = static_cast<int>(SA_ONSTACK | SA_RESETHAND | SA_NODEFER);
  sigemptyset(&action.sa_mask);
  for (const int signal : kCrashes) (void)::sigaction(signal, &action, nullptr);
  (void)::on_exit(&on_exit_called, nullptr);
}

bool reports_crash(int signal) {
  struct sigaction action {};
  (void)::sigaction(signal, nullptr, &action);
  const bool is_crash = std::find(kCrashes.begin(), kCrashes.end(), signal) != kCrashes.end();
  return is_crash && (action.sa_handler == &on_signal || action.sa_handler == SIG_DFL);
}

InCall::InCall(std::uint64_t call) { call_of_thread = call; }
InCall::~InCall() { call_of_thread = 0; }

SignalStack::SignalStack() : memory_(new char[kStackBytes]) {
  stack_t stack{};
  stack.ss_sp = memory_;
  stack.ss_size = kStackBytes;
  (void)::sigaltstack(&stack, nullptr);
}

SignalStack::~SignalStack() {
  stack_t none{};
  none.ss_flags = SS_DISABLE;
  (void)::sigaltstack(&none, nullptr);
  delete[] memory_;
}

}  // namespace hostler::driver_host
