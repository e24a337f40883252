#include <string_view>

#include "core/plugin_host/abi_values.h"
#include "sdk/check/host/relayed_call.h"

namespace hostler::check {
namespace {

// Arguments of templates: what an extension is called, and what messages call its functions.
constexpr char kHostKey[] = HOSTLER_EXT_HOST_KEY, kVerify[] = "verify";
constexpr char kPriceHistory[] = HOSTLER_EXT_PRICE_HISTORY, kHistory[] = "history";
constexpr char kQuotaGroup[] = HOSTLER_EXT_QUOTA_GROUP, kGroup[] = "group";
constexpr char kPower[] = HOSTLER_EXT_POWER, kStart[] = "start", kStop[] = "stop";
constexpr char kOfferings[] = HOSTLER_EXT_OFFERINGS, kOffered[] = "offerings";
constexpr char kInterruption[] = HOSTLER_EXT_INTERRUPTION, kWatch[] = "watch";
constexpr char kConsole[] = HOSTLER_EXT_CONSOLE, kRead[] = "console read";
constexpr char kLeftovers[] = HOSTLER_EXT_LEFTOVERS, kListLeftovers[] = "leftovers list",
               kDestroyLeftover[] = "leftovers destroy";
constexpr char kImages[] = HOSTLER_EXT_IMAGES, kFind[] = "images find";

/// The parts of a pointer to a function of an extension's table.
template <auto member>
struct Parts;
template <class T, class R, hostler_status (*T::*member)(hostler_set*, const R*, hostler_op*)>
struct Parts<member> {
  using Table = T;
  using Request = R;
};

/// A copy of the driver's own table; all zero if it has none, or none that can be read.
template <class T>
T own_table(const char* id) {
  T out{};
  const void* const found = Relay::get().driver().get_extension(id);
  if (found == nullptr) return out;
  if (const auto rule = plugin_host::copy_growable(found, out); !rule.empty()) {
    Relay::get().findings().fail("R15", "get_extension", std::string(id) + ": " + rule);
    return T{};
  }
  return out;
}

template <auto member, const char* id, const char* name>
hostler_status relay_function(hostler_set* s, const typename Parts<member>::Request* r,
                              hostler_op* op) {
  return relayed(name, s, r, op, own_table<typename Parts<member>::Table>(id).*member);
}

/// The relay's function in place of the driver's own; null if that is null.
template <auto member, const char* id, const char* name>
auto in_place_of() {
  const bool is_there = own_table<typename Parts<member>::Table>(id).*member != nullptr;
  return is_there ? &relay_function<member, id, name> : nullptr;
}

const void* stable_extension(std::string_view id) {
  if (id == kHostKey) {
    using T = hostler_ext_host_key;
    static const T kTable{sizeof(T), 0, in_place_of<&T::verify, kHostKey, kVerify>()};
    return &kTable;
  }
  if (id == kPriceHistory) {
    using T = hostler_ext_price_history;
    static const T kTable{sizeof(T), 0, in_place_of<&T::history, kPriceHistory, kHistory>()};
    return &kTable;
  }
  if (id == kQuotaGroup) {
    using T = hostler_ext_quota_group;
    static const T kTable{sizeof(T), 0, in_place_of<&T::group, kQuotaGroup, kGroup>()};
    return &kTable;
  }
  if (id == kPower) {
    using T = hostler_ext_power;
    static const T kTable{sizeof(T), 0, in_place_of<&T::start, kPower, kStart>(),
                          in_place_of<&T::stop, kPower, kStop>()};
    return &kTable;
  }
  return nullptr;
}

const void* draft_extension(std::string_view id) {
  if (id == kOfferings) {
    using T = hostler_ext_offerings;
    static const T kTable{sizeof(T), 0, in_place_of<&T::offerings, kOfferings, kOffered>()};
    return &kTable;
  }
  if (id == kInterruption) {
    using T = hostler_ext_interruption;
    static const T kTable{sizeof(T), 0, in_place_of<&T::watch, kInterruption, kWatch>()};
    return &kTable;
  }
  if (id == kConsole) {
    using T = hostler_ext_console;
    static const T kTable{sizeof(T), 0, in_place_of<&T::read, kConsole, kRead>()};
    return &kTable;
  }
  if (id == kLeftovers) {
    using T = hostler_ext_leftovers;
    static const T kTable{sizeof(T), 0, in_place_of<&T::list, kLeftovers, kListLeftovers>(),
                          in_place_of<&T::destroy, kLeftovers, kDestroyLeftover>()};
    return &kTable;
  }
  if (id == kImages) {
    using T = hostler_ext_images;
    static const T kTable{sizeof(T), 0, in_place_of<&T::find, kImages, kFind>()};
    return &kTable;
  }
  return nullptr;
}

}  // namespace

const void* relayed_extension(const char* id) {
  if (Relay::get().driver().get_extension(id) == nullptr) return nullptr;
  const void* const table = stable_extension(id);
  return table != nullptr ? table : draft_extension(id);
}

}  // namespace hostler::check
