#pragma once

#include <hostler/driver.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace hostler::local::test {

/// A copy of the instance record that a driver emits.
struct Seen {
  std::string id, key, set_id, owner, zone, user, address, reason;
  std::map<std::string, std::string> tags;
  std::uint32_t state = 0, market = 0, port = 0;
  std::int64_t price = -1;
};

/// The result of one call.
struct Outcome {
  hostler_status status = HOSTLER_OK;
  std::string message;
  std::map<std::uint32_t, std::string> texts;
  std::uint32_t scope = 0, flags = 0;
  std::int64_t retry_after_ms = -1, quota_limit = -1, quota_used = -1;
  std::vector<Seen> instances;
  std::vector<hostler_price> prices;  ///< Without their texts.
  std::uint64_t capabilities = 0, list_consistency_ms = 0;
};

/// The parameters of a create request.
struct Create {
  std::string key;
  std::string type = "small", zone, user_data, host_key_private, host_key_public, owner = "o";
  std::vector<std::string> login_keys;
  std::map<std::string, std::string> tags;
  std::uint32_t user_data_format = HOSTLER_USER_DATA_SH, market = HOSTLER_MARKET_ON_DEMAND,
                tenancy = HOSTLER_TENANCY_DEFAULT;
  std::int64_t price = 40000;
};

/// A minimal host: loads the driver that was built, and calls its C functions without any checks.
/// Calls may come from several threads.
class DriverHost {
 public:
  /// Opens a set. Throws std::runtime_error with the driver's message.
  DriverHost(const std::string& set_id, const std::string& config_json);
  ~DriverHost();
  DriverHost(const DriverHost&) = delete;
  DriverHost& operator=(const DriverHost&) = delete;

  /// The result of opening a set; a set that was opened is closed again.
  static Outcome try_open(const std::string& config_json);

  Outcome info();
  Outcome create(const Create& create, const std::function<void(hostler_op*)>& before = {});
  Outcome list(const std::vector<std::string>& ids = {},
               const std::map<std::string, std::string>& tags = {}, int timeout_ms = 60000);
  Outcome destroy(const std::string& id, const std::string& key = "",
                  const std::string& expected_set = "", std::uint32_t flags = 0);
  Outcome set_tags(const std::string& id, const std::map<std::string, std::string>& set);
  Outcome verify(const std::string& id, const std::string& public_key_line);
  Outcome prices(const std::string& type, std::uint32_t market, std::int64_t since_ns);
  Outcome start(const std::string& id);
  Outcome stop(const std::string& id);

  /// The instance with that id as list() shows it; state GONE if it is not listed.
  Seen look(const std::string& id);

  static const hostler_driver& table();

 private:
  hostler_set* set_ = nullptr;
};

std::string driver_folder();  ///< Where the driver and its supervisor are.

}  // namespace hostler::local::test
