#include "core/driver_host/parent/remote_connection.h"

#include <string_view>
#include <utility>

#include "core/driver_host/wire/encoder.h"

namespace hostler::driver_host {
namespace {

template <FrameType function, class Request>
hostler_status send(hostler_set* set, const Request* request, hostler_op* op) {
  std::string body;
  Encoder(body).growable(*request);
  return reinterpret_cast<Sender*>(set)->send(function, std::move(body), op);
}

constexpr hostler_ext_host_key kHostKey{sizeof kHostKey, 0,
                                        &send<FrameType::kVerify, hostler_verify_req>};
constexpr hostler_ext_price_history kPriceHistory{
    sizeof kPriceHistory, 0, &send<FrameType::kPriceHistory, hostler_price_req>};
constexpr hostler_ext_quota_group kQuotaGroup{
    sizeof kQuotaGroup, 0, &send<FrameType::kQuotaGroup, hostler_quota_group_req>};
constexpr hostler_ext_power kPower{sizeof kPower, 0, &send<FrameType::kStart, hostler_power_req>,
                                   &send<FrameType::kStop, hostler_power_req>};
constexpr hostler_ext_offerings kOfferings{sizeof kOfferings, 0,
                                           &send<FrameType::kOfferings, hostler_offerings_req>};
constexpr hostler_ext_interruption kInterruption{
    sizeof kInterruption, 0, &send<FrameType::kWatch, hostler_interruption_req>};
constexpr hostler_ext_console kConsole{sizeof kConsole, 0,
                                       &send<FrameType::kReadConsole, hostler_console_req>};
constexpr hostler_ext_leftovers kLeftovers{
    sizeof kLeftovers, 0, &send<FrameType::kListLeftovers, hostler_leftover_list_req>,
    &send<FrameType::kDestroyLeftover, hostler_leftover_destroy_req>};
constexpr hostler_ext_images kImages{sizeof kImages, 0,
                                     &send<FrameType::kFindImages, hostler_images_req>};

std::shared_ptr<const plugin_host::DriverLibrary> table_of(const std::string& driver,
                                                           const std::string& path) {
  hostler_driver table{};
  table.struct_size = sizeof table;
  table.name = driver.c_str();
  table.set_info = &send<FrameType::kInfo, hostler_set_info_req>;
  table.create = &send<FrameType::kCreate, hostler_create_req>;
  table.list = &send<FrameType::kList, hostler_list_req>;
  table.destroy = &send<FrameType::kDestroy, hostler_destroy_req>;
  table.set_tags = &send<FrameType::kSetTags, hostler_set_tags_req>;
  return std::make_shared<const plugin_host::DriverLibrary>(path, table);
}

}  // namespace

RemoteConnection::RemoteConnection(const std::string& driver, const std::string& path,
                                   Sender& sender)
    : Connection(table_of(driver, path)), sender_(sender) {
  set = reinterpret_cast<hostler_set*>(&sender);
}

hostler_status RemoteConnection::open(const hostler_set_config& config, hostler_op* op) {
  std::string body;
  Encoder(body).growable(config);
  return sender_.send(FrameType::kOpen, std::move(body), op);
}

void RemoteConnection::set_extensions(const std::vector<std::string>& ids) {
  const MutexLock lock(mutex_);
  extensions_ = {ids.begin(), ids.end()};
}

const void* RemoteConnection::find_extension(const char* id) const {
  const std::string_view wanted = id;
  {
    const MutexLock lock(mutex_);
    if (!extensions_.contains(wanted)) return nullptr;
  }
  if (wanted == HOSTLER_EXT_HOST_KEY) return &kHostKey;
  if (wanted == HOSTLER_EXT_PRICE_HISTORY) return &kPriceHistory;
  if (wanted == HOSTLER_EXT_QUOTA_GROUP) return &kQuotaGroup;
  if (wanted == HOSTLER_EXT_POWER) return &kPower;
  if (wanted == HOSTLER_EXT_OFFERINGS) return &kOfferings;
  if (wanted == HOSTLER_EXT_INTERRUPTION) return &kInterruption;
  if (wanted == HOSTLER_EXT_CONSOLE) return &kConsole;
  if (wanted == HOSTLER_EXT_LEFTOVERS) return &kLeftovers;
  if (wanted == HOSTLER_EXT_IMAGES) return &kImages;
  return nullptr;
}

}  // namespace hostler::driver_host
