#include "keys.h"

#include <chrono>

namespace hostler::ec2 {
namespace {

constexpr std::int64_t kRenewBeforeEndS = 300;
constexpr auto kLook = std::chrono::milliseconds(200);

std::int64_t seconds_left(const Keys& keys) {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return keys.expires_unix_s - std::chrono::duration_cast<std::chrono::seconds>(now).count();
}

bool are_valid(const Keys& keys, std::int64_t for_seconds) {
  return !keys.access_key_id.empty() &&
         (keys.expires_unix_s == 0 || seconds_left(keys) > for_seconds);
}

}  // namespace

Keys RenewedKeys::get(hostler_op* op) {
  const auto kept = [this] {
    const std::lock_guard lock(mutex_);
    return kept_;
  };
  Keys keys = kept();
  if (are_valid(keys, kRenewBeforeEndS)) return keys;
  std::unique_lock renewing(fetching_, std::try_to_lock);
  if (!renewing && are_valid(keys, 0)) return keys;  // somebody else renews them
  while (!renewing && !renewing.try_lock_for(kLook))
    if (op != nullptr) driver::check_cancelled(op);
  keys = kept();
  if (are_valid(keys, kRenewBeforeEndS)) return keys;
  try {
    Keys fresh = fetch_(op);
    const std::lock_guard lock(mutex_);
    kept_ = fresh;
    return fresh;
  } catch (const driver::Error&) {
    if (!are_valid(keys, 0)) throw;
    return keys;
  }
}

bool RenewedKeys::refused(const Keys& keys) {
  const std::lock_guard lock(mutex_);
  if (kept_.access_key_id == keys.access_key_id) kept_ = {};
  return true;
}

}  // namespace hostler::ec2
