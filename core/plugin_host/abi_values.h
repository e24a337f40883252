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
#include "core/plugin_host/first_sizes.h"
#include "core/plugin_host/record_intake.h"
#include "hostler/driver.h"

/// Converts the ABI's structs to the model's values and back.
namespace hostler::plugin_host {

/// "QUOTA", "the unknown status -77".
std::string status_name(hostler_status status);

// ---- from the driver ---------------------------------------------------------------------------

/// Copies a growable struct from a driver whose version of it may be shorter or longer (R15);
/// fields that the driver's version lacks become zero.
/// Returns the rule that the struct breaks; empty if none.
template <class T>
std::string copy_growable(const void* from, T& to) {
  constexpr std::size_t kFirst = kFirstSize<T>;
  static_assert(kFirst != 0 && kFirst <= sizeof(T), "first_sizes.h knows the struct");
  std::uint32_t size = 0;
  std::memcpy(&size, from, sizeof size);
  if (size < kFirst || size > 65536) {
    return "R15: a struct_size of " + std::to_string(size) + ", at least " +
           std::to_string(kFirst) + " and at most 65536 are legal";
  }
  if (size < sizeof(T)) to = T{};
  std::memcpy(&to, from, std::min<std::size_t>(size, sizeof(T)));
  to.struct_size = sizeof(T);
  return {};
}

/// The bytes of texts that an operation may still have in its records.
struct TextsLeft {
  std::uint64_t bytes = kOperationBytesMax;
};

// Each reads one record of its kind into a new value. Returns the rule that the record breaks;
// empty if none.
std::string read_instance(const hostler_rec& record, model::AddressChoice choice,
                          model::ListedInstance& out, TextsLeft& left);
std::string read_set_info(const hostler_rec& record, model::SetInfo& out);
std::string read_price(const hostler_rec& record, model::ZonePrice& out);
std::string read_quota_group(const hostler_rec& record, std::string& name);

/// The error that a driver reported. `texts` are indexed by HOSTLER_TEXT_* and printable.
model::CloudError read_error(const hostler_error& error, hostler_status status,
                             std::span<const std::string> texts);

// ---- to the driver: the results point into the arguments, which must outlive them
// -----------------

inline hostler_str to_abi(const std::string& s) { return {s.c_str(), s.size()}; }
std::uint32_t to_abi(model::Market market);
std::vector<hostler_kv> to_abi(const model::Tags& tags);
std::vector<hostler_str> to_abi(const std::vector<std::string>& texts);
hostler_instance_type to_abi(const model::InstanceType& type);

/// A create request with the arrays that it points to. Also points into `request`, which must
/// outlive this object.
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
  std::vector<hostler_str> keys_, groups_, profiles_;
  std::vector<hostler_kv> tags_;
  std::vector<hostler_disk> disks_;
  std::vector<const hostler_disk*> disk_list_;
};

}  // namespace hostler::plugin_host
