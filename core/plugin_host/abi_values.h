#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/cloud.h"
#include "core/plugin_host/driver_set.h"
#include "hostler/driver.h"

/// Between the ABI's structs and the model's values, both ways; the only place that knows both.
namespace hostler::plugin_host {

/// "QUOTA", "status -77".
std::string status_name(hostler_status status);

// ---- from the driver ---------------------------------------------------------------------------

/// Copies a growable struct into one of the size that this host knows, the rest zero (R15).
/// `size_1_0` is what every driver has. An empty string, or the rule that it breaks.
template <class T>
std::string copy_growable(const void* from, T& to, std::size_t size_1_0 = sizeof(T)) {
  std::uint32_t size = 0;
  std::memcpy(&size, from, sizeof size);
  if (size < size_1_0 || size > 65536) {
    return "R15: a struct_size of " + std::to_string(size) + ", at least " +
           std::to_string(size_1_0) + " and at most 65536 are legal";
  }
  if (size < sizeof(T)) to = T{};
  std::memcpy(&to, from, std::min<std::size_t>(size, sizeof(T)));
  to.struct_size = sizeof(T);
  return {};
}

// Each reads one record of its kind into a new value. An empty string, or the rule that it breaks.
std::string read_instance(const hostler_rec& record, model::ListedInstance& out);
std::string read_set_info(const hostler_rec& record, model::SetInfo& out);
std::string read_price(const hostler_rec& record, model::ZonePrice& out);

/// `texts` by HOSTLER_TEXT_*, fit to print.
model::CloudError read_error(const hostler_error& error, hostler_status status,
                             std::span<const std::string> texts);

// ---- to the driver, borrowing every string ------------------------------------------------------

inline hostler_str to_abi(const std::string& s) { return {s.c_str(), s.size()}; }
std::uint32_t to_abi(model::Market market);
std::vector<hostler_kv> to_abi(const model::Tags& tags);
std::vector<hostler_str> to_abi(const std::vector<std::string>& texts);
hostler_instance_type to_abi(const model::InstanceType& type);

/// A create request and the arrays that it points to; borrows from the model's.
class CreateArguments {
 public:
  explicit CreateArguments(const model::CreateRequest& request);
  CreateArguments(const CreateArguments&) = delete;
  CreateArguments& operator=(const CreateArguments&) = delete;
  [[nodiscard]] const hostler_create_req& get() const { return request_; }

 private:
  hostler_create_req request_{};
  hostler_instance_type type_;
  hostler_user_data user_data_{};
  std::vector<hostler_str> keys_;
  std::vector<hostler_kv> tags_;
};

}  // namespace hostler::plugin_host
