#include "core/plugin_host/cancel_function.h"

#include <system_error>
#include <utility>

namespace hostler::plugin_host {

void CancelFunction::set(Function function, void* argument) {
  function_ = function;
  argument_ = argument;
}

void CancelFunction::start(Mutex& mutex, std::shared_ptr<void> owner) {
  if (function_ == nullptr) return;
  running_ = true;
  try {
    std::thread([this, &mutex, owner = std::move(owner)] { run(mutex); }).detach();
  } catch (const std::system_error&) {
    running_ = false;  // The driver still sees the cancel in is_cancelled().
  }
}

void CancelFunction::run(Mutex& mutex) {
  const MutexLock lock(mutex);
  thread_ = std::this_thread::get_id();
  const auto function = std::exchange(function_, nullptr);
  void* const argument = argument_;
  {
    const MutexUnlock unlocked(mutex);
    try {
      if (function != nullptr) function(argument);
    } catch (...) {  // NOLINT(bugprone-empty-catch): R45; the call ends at its deadline
    }
  }
  running_ = false;
  thread_ = {};
  returned_.notify_all();
}

void CancelFunction::wait(Mutex& mutex) {
  returned_.wait(mutex, [this] { return !running_ || thread_ == std::this_thread::get_id(); });
}

}  // namespace hostler::plugin_host
