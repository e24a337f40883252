#include "supervisor/machine.h"

#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>

#include "folder/files.h"
#include "supervisor/child.h"
#include "supervisor/sweep.h"

namespace hostler::local {
namespace {

constexpr std::int64_t kLivedLongMs = 5000;
constexpr int kQuickEndsMax = 6;
constexpr std::int64_t kGraceMs = 1000;
constexpr std::int64_t kLookAgainMs = 20;

std::int64_t now_ms() {
  using namespace std::chrono;
  return duration_cast<milliseconds>(steady_clock::now().time_since_epoch()).count();
}

/// The environment of sessions. With its own home, no start-up files of a person are run, even if
/// the account is a real one.
std::vector<std::string> session_variables(const InstanceFolder& folder, const BootPlan& plan,
                                           const std::string& boot_id) {
  return {"HOME=" + folder.home(), "HOSTLER_HOST_KEY=" + folder.host_key(),
          "HOSTLER_AGENT_DIR=" + folder.agent(), "HOSTLER_BOOT_ID=" + boot_id,
          "HOSTLER_RAM=" + std::to_string(plan.ram_bytes)};
}

std::vector<std::string> environment_of(const BootPlan& plan, std::vector<std::string> session) {
  session.push_back("PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
  session.push_back("USER=" + plan.account);
  session.push_back("LOGNAME=" + plan.account);
  return session;
}

/// Written to a file, because the boot id is new at each boot. Not passed on the command line: an
/// argument with spaces would break tools that run the process title of sshd with -t to check the
/// configuration.
std::string boot_config(const std::vector<std::string>& variables) {
  std::string line = "SetEnv";
  for (const std::string& variable : variables) line += " " + variable;
  return line + "\n";
}

bool answers(const InstanceFolder& folder) {
  const std::optional<std::string> log = read_file(folder.sshd_log());
  return log && log->find("Server listening on") != std::string::npos;
}

}  // namespace

Machine::Machine(const InstanceFolder& folder, const BootPlan& plan, const std::string& boot_id,
                 driver::Fd life)
    : folder_(folder),
      plan_(plan),
      session_(session_variables(folder, plan, boot_id)),
      environment_(environment_of(plan, session_)),
      life_(std::move(life)),
      signals_(take_signals()) {}

int Machine::run() {
  if (::chdir("/") != 0) return kMachineBroken;
  run_user_data();
  if (plan_.sshd_delay_ms >= 0) {
    const Time init_wait = user_data_ > 0 ? plan_.init_wait_ms : 0;
    sshd_due_ = now_ms() + std::max<Time>(plan_.sshd_delay_ms, init_wait);
  }
  while (exit_status_ < 0) {
    do_what_is_due();
    pollfd fds[] = {{signals_.get(), POLLIN, 0}, {life_.get(), 0, 0}};
    if (::poll(fds, 2, poll_timeout()) < 0 && errno != EINTR) return kMachineBroken;
    if ((fds[1].revents & (POLLHUP | POLLERR)) != 0) {
      sweep_descendants();
      return kMachineBroken;
    }
    signalfd_siginfo signal{};
    while (::read(signals_.get(), &signal, sizeof signal) == sizeof signal)
      if (signal.ssi_signo == SIGTERM) shut_down();
    reap();
  }
  return exit_status_;
}

/// Starts the user data, at the first boot only. It may still run when sshd is up.
void Machine::run_user_data() {
  if (is_there(folder_.user_data()))
    user_data_ = start_child({folder_.user_data()}, environment_, folder_.console());
}

void Machine::start_sshd() {
  sshd_due_ = kNever;
  sshd_since_ = now_ms();
  write_file(folder_.sshd_boot_config(), boot_config(session_));
  sshd_ = start_child({plan_.sshd, "-D", "-f", folder_.sshd_config(), "-E", folder_.sshd_log()},
                      environment_, folder_.console());
  if (sshd_ < 0) return on_sshd_end();
  if (plan_.key_change_ms >= 0 && is_there(folder_.other_host_key()))
    key_change_due_ = now_ms() + kLookAgainMs;
}

/// For the test dial: from now on the host presents a key that does not belong to it.
void Machine::change_host_key() {
  key_change_due_ = kNever;
  if (!answers(folder_)) {
    key_change_due_ = now_ms() + kLookAgainMs;
    return;
  }
  if (now_ms() < sshd_since_ + plan_.key_change_ms) {
    key_change_due_ = sshd_since_ + plan_.key_change_ms;
    return;
  }
  std::rename((folder_.other_host_key() + ".pub").c_str(), (folder_.host_key() + ".pub").c_str());
  std::rename(folder_.other_host_key().c_str(), folder_.host_key().c_str());
  if (sshd_ > 0) ::kill(sshd_, SIGHUP);
}

void Machine::reap() {
  int status = 0;
  pid_t pid = 0;
  while ((pid = ::waitpid(-1, &status, WNOHANG)) > 0) {
    if (pid == user_data_) {
      ::unlink(folder_.user_data().c_str());
      user_data_ = -1;
    } else if (pid == sshd_) {
      sshd_ = -1;
      on_sshd_end();
      continue;
    } else {
      continue;  // an orphan
    }
    // The user data has ended: start sshd now, unless the test dial delays it.
    if (user_data_ < 0 && sshd_due_ != kNever && plan_.sshd_delay_ms == 0) sshd_due_ = now_ms();
  }
  if (kill_due_ != kNever && pid < 0 && errno == ECHILD) exit_status_ = kMachineOff;
}

/// Restarts sshd with increasing delays, like a service manager. Existing sessions continue.
void Machine::on_sshd_end() {
  if (kill_due_ != kNever) return;
  quick_ends_ = now_ms() - sshd_since_ >= kLivedLongMs ? 1 : quick_ends_ + 1;
  if (quick_ends_ >= kQuickEndsMax) {
    exit_status_ = kMachineNoSshd;
    return;
  }
  sshd_due_ = now_ms() + (Time{50} << quick_ends_);
}

void Machine::shut_down() {
  if (kill_due_ != kNever) return;
  kill_due_ = now_ms() + kGraceMs;
  sshd_due_ = key_change_due_ = kNever;
  signal_descendants(SIGTERM);
}

void Machine::do_what_is_due() {
  const Time now = now_ms();
  if (sshd_due_ <= now) start_sshd();
  if (key_change_due_ <= now) change_host_key();
  if (kill_due_ <= now) {
    sweep_descendants();
    exit_status_ = kMachineOff;
  }
}

int Machine::poll_timeout() const {
  const Time due = std::min({sshd_due_, key_change_due_, kill_due_});
  if (exit_status_ >= 0) return 0;
  if (due == kNever) return -1;
  return static_cast<int>(std::clamp<Time>(due - now_ms(), 0, 3'600'000));
}

}  // namespace hostler::local
