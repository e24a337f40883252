#pragma once

#include <cstdint>
#include <functional>
#include <hostler/driver.hpp>
#include <memory>
#include <mutex>
#include <string>

#include "http/transport.h"

namespace hostler::ec2 {

/// SECRET: what requests are signed with.
struct Keys {
  std::string access_key_id, secret_access_key, session_token;
  std::int64_t expires_unix_s = 0;  ///< 0: never.
};

/// Where keys come from. From any thread, several at once.
class KeySource {
 public:
  virtual ~KeySource() = default;

  /// Blocks where it has to ask somebody, until the deadline of `op` or its cancel. Throws
  /// driver::Error.
  virtual Keys get(hostler_op* op) = 0;
  /// Amazon does not take `keys` any more. \return whether get() will have others.
  virtual bool refused(const Keys&) { return false; }
};

class FixedKeys : public KeySource {
 public:
  explicit FixedKeys(Keys keys) : keys_(std::move(keys)) {}
  Keys get(hostler_op*) override { return keys_; }

 private:
  const Keys keys_;
};

/// Keys that end: kept, and renewed five minutes before their end. While that fails the old ones
/// are used for as long as they are valid.
class RenewedKeys : public KeySource {
 public:
  using Fetch = std::function<Keys(hostler_op*)>;
  explicit RenewedKeys(Fetch fetch) : fetch_(std::move(fetch)) {}

  Keys get(hostler_op* op) override;
  bool refused(const Keys& keys) override;

 private:
  const Fetch fetch_;
  std::timed_mutex fetching_;  ///< Held by the one who renews.
  std::mutex mutex_;
  Keys kept_;  ///< Under mutex_; none while access_key_id is empty.
};

/// Keys of the role of the machine that this runs on, from its metadata service (IMDSv2), which
/// `metadata` leads to. Throws AUTH where the machine has no role.
Keys keys_of_machine(http::Transport& metadata, hostler_op* op);

}  // namespace hostler::ec2
