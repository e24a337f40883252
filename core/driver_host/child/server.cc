#include "core/driver_host/child/server.h"

#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "core/base/assert.h"
#include "core/driver_host/child/crash_report.h"
#include "core/driver_host/wire/limits.h"
#include "core/driver_host/wire/messages.h"
#include "core/driver_host/wire/socket.h"

namespace hostler::driver_host {
namespace {

constexpr std::size_t kRetiredMax = 256, kEarlyMax = 256;

/// The threads of Go's runtime are there until the process ends.
bool can_end_its_threads(const hostler_driver& driver) {
  return driver.runtime == nullptr || std::string_view(driver.runtime) != "go";
}

/// Room for one message. Most calls are short: what they do not fill is never touched.
class Buffer {
 public:
  [[nodiscard]] std::span<char> room() const { return {bytes_.get(), kSize}; }
  [[nodiscard]] std::string_view first(std::size_t size) const { return {bytes_.get(), size}; }

 private:
  static constexpr std::size_t kSize = kDatagramMax + sizeof(FrameHead);
  const std::unique_ptr<char[]> bytes_ = std::make_unique_for_overwrite<char[]>(kSize);
};

}  // namespace

Server::Server(std::shared_ptr<plugin_host::Connection> connection, const Outlet& outlet,
               UniqueFd control, std::size_t workers_max, std::function<bool()> is_outdated,
               std::function<std::string()> why_ended)
    : connection_(std::move(connection)),
      outlet_(outlet),
      control_(std::move(control)),
      workers_max_(workers_max),
      is_outdated_(std::move(is_outdated)),
      why_ended_(std::move(why_ended)) {}

void Server::run() {
  {
    const MutexLock lock(mutex_);
    start_worker();
  }
  const Buffer buffer;
  while (true) {
    wait_for_control();
    const auto received = receive_message(control_, buffer.room(), true, false);
    if (received.what != Received::What::kMessage) ::_exit(0);
    std::string_view message = buffer.first(received.size);
    while (const auto frame = next_frame(message)) {
      if (frame->head.type == FrameType::kClose) return close_set();
      on_control(*frame);
    }
  }
}

/// A look at least each second, also while nothing comes.
void Server::wait_for_control() const {
  constexpr int kLookEachMs = 1000;
  pollfd polled{control_.get(), POLLIN, 0};
  do
    if (const auto why = why_ended_(); !why.empty()) {
      outlet_.send_frame(FrameType::kBrokenRule, 0, why);
      outlet_.send_frame(FrameType::kFailed, 0, "was ended: " + why);
      ::_exit(1);
    }
  while (::poll(&polled, 1, kLookEachMs) <= 0);
}

void Server::on_control(const Frame& frame) {
  if (frame.head.type == FrameType::kPing) {
    outlet_.send_frame(FrameType::kPong, frame.head.call, frame.body);
    report_changes();
    if (is_outdated_()) outlet_.send_frame(FrameType::kOutdated, 0, {});
  } else if (frame.head.type == FrameType::kCancel) {
    cancel(frame.head.call, frame.body == "late");
  }
}

void Server::cancel(std::uint64_t call, bool time_is_up) {
  std::shared_ptr<RelayedCall> op;
  {
    const MutexLock lock(mutex_);
    const auto found = active_.find(call);
    if (found == active_.end()) {
      // It has just ended; or it comes later, by the other socket.
      early_cancels_[call] = time_is_up;
      if (early_cancels_.size() > kEarlyMax) early_cancels_.erase(early_cancels_.begin());
      return;
    }
    op = found->second;
  }
  op->cancel(time_is_up);
}

/// hostlerd has waited for the end of all calls before.
void Server::close_set() {
  (void)::shutdown(outlet_.socket().get(), SHUT_RD);
  std::vector<std::thread> workers;
  {
    const MutexLock lock(mutex_);
    workers.swap(workers_);
  }
  for (auto& worker : workers) worker.join();
  if (connection_->set == nullptr) return;
  try {
    const SignalStack signal_stack;
    connection_->driver().set_close(connection_->set);
  } catch (...) {
    outlet_.send_frame(FrameType::kBrokenRule, 0, "R45: an exception left set_close");
  }
  report_changes();
  if (!can_end_its_threads(connection_->driver())) return;
  if (const auto left = other_threads(); left > 0)
    outlet_.send_frame(FrameType::kBrokenRule, 0,
                       "R37: " + std::to_string(left) + " threads are left after set_close");
}

/// Not after each call, which must be fast: after the open, with each ping, and at the end.
void Server::report_changes() {
  const MutexLock lock(state_mutex_);
  for (const auto& what : state_.changes())
    outlet_.send_frame(FrameType::kBrokenRule, 0, "R44: the driver has changed " + what);
  if (!std::exchange(has_descriptors_, !has_used_up_descriptors()) || has_descriptors_) return;
  outlet_.send_frame(FrameType::kBrokenRule, 0,
                     "limit: the driver has used up the descriptors of its process");
}

// ---- calls -------------------------------------------------------------------------------------

void Server::start_worker() {
  ++idle_;
  workers_.emplace_back([this] { run_worker(); });
}

void Server::run_worker() {
  pthread_setname_np(pthread_self(), "driver");
  const SignalStack signal_stack;
  const Buffer buffer;
  while (true) {
    const auto received = receive_message(outlet_.socket(), buffer.room(), true, true);
    if (received.what != Received::What::kMessage) return;
    {
      const MutexLock lock(mutex_);
      if (--idle_ == 0 && workers_.size() < workers_max_ && !workers_.empty()) start_worker();
    }
    std::string_view message = buffer.first(received.size);
    if (const auto frame = next_frame(message)) run_call(*frame, received.file);
    const MutexLock lock(mutex_);
    ++idle_;
  }
}

void Server::run_call(const Frame& frame, const UniqueFd& file) {
  const std::uint64_t id = frame.head.call;
  std::string body(frame.body);
  if ((frame.head.flags & kInFile) != 0) {
    if (!file) return refuse_call(id, "the driver has no file descriptor left (RLIMIT_NOFILE)");
    auto read = read_open_file(file, "a request in a file", kRequestBytesMax);
    if (!read) return refuse_call(id, read.error().message);
    body = std::move(*read);
  }
  const auto op =
      RelayedCall::make(frame.head.type, id, std::move(body), connection_, *this, outlet_);
  if (op == nullptr) return;
  std::optional<bool> cancelled_late;
  {
    const MutexLock lock(mutex_);
    active_.emplace(id, op);
    if (const auto early = early_cancels_.find(id); early != early_cancels_.end()) {
      cancelled_late = early->second;
      early_cancels_.erase(early);
    }
  }
  if (cancelled_late) op->cancel(*cancelled_late);
  {
    const InCall in_call(id);
    op->run();
  }
  if (is_active(id)) outlet_.send_frame(FrameType::kReturned, id, {});
  if (frame.head.type == FrameType::kOpen) report_changes();
}

/// Ends a call that was not passed on to the driver.
void Server::refuse_call(std::uint64_t call, const std::string& why) const {
  outlet_.send_frame(
      FrameType::kEnd, call,
      to_body(End{.status = HOSTLER_E_TRANSIENT, .texts = {"", why}, .broken_rule = {}}));
}

bool Server::is_active(std::uint64_t call) {
  const MutexLock lock(mutex_);
  return active_.contains(call);
}

void Server::on_ended(plugin_host::Operation& op) {
  std::shared_ptr<RelayedCall> ended;
  {
    const MutexLock lock(mutex_);
    const auto found = active_.find(static_cast<RelayedCall&>(op).id());
    HOSTLER_ASSERT(found != active_.end(), "a call is active until it ends, and ends once");
    ended = std::move(found->second);
    active_.erase(found);
  }
  ended->send_end();
  const MutexLock lock(mutex_);
  retired_.push_back(std::move(ended));
  if (retired_.size() > kRetiredMax) retired_.pop_front();
}

void Server::on_broken_rule(const plugin_host::Operation& op, const std::string& rule) {
  const std::string text = std::string(op.traits().name) + ": " + rule;
  outlet_.send_frame(FrameType::kBrokenRule, 0, text);
}

}  // namespace hostler::driver_host
