#include <string_view>
#include <type_traits>

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

/// A function of an extension, and what messages call it.
template <auto member, const char* name>
struct Function {
  using Table = typename Parts<member>::Table;
  using Request = typename Parts<member>::Request;
  static constexpr auto kMember = member;
  static constexpr const char* kName = name;
};

/// The relay's function in place of the driver's own; null if that is null.
template <const char* id, class F>
auto in_place_of() {
  const auto function = [](hostler_set* s, const typename F::Request* r, hostler_op* op) {
    return relayed(F::kName, s, r, op, own_table<typename F::Table>(id).*F::kMember);
  };
  const bool is_there = own_table<typename F::Table>(id).*F::kMember != nullptr;
  return is_there ? +function : nullptr;
}

/// The relay's table of an extension with these functions, in the order of the table.
template <const char* id, class... F>
const void* table_of() {
  using Table = std::common_type_t<typename F::Table...>;
  static const Table kTable{sizeof(Table), 0, in_place_of<id, F>()...};
  return &kTable;
}

struct Extension {
  std::string_view id;
  const void* (*table)();
};
constexpr Extension kExtensions[]{
    {kHostKey, &table_of<kHostKey, Function<&hostler_ext_host_key::verify, kVerify>>},
    {kPriceHistory,
     &table_of<kPriceHistory, Function<&hostler_ext_price_history::history, kHistory>>},
    {kQuotaGroup, &table_of<kQuotaGroup, Function<&hostler_ext_quota_group::group, kGroup>>},
    {kPower, &table_of<kPower, Function<&hostler_ext_power::start, kStart>,
                       Function<&hostler_ext_power::stop, kStop>>},
    {kOfferings, &table_of<kOfferings, Function<&hostler_ext_offerings::offerings, kOffered>>},
    {kInterruption, &table_of<kInterruption, Function<&hostler_ext_interruption::watch, kWatch>>},
    {kConsole, &table_of<kConsole, Function<&hostler_ext_console::read, kRead>>},
    {kLeftovers, &table_of<kLeftovers, Function<&hostler_ext_leftovers::list, kListLeftovers>,
                           Function<&hostler_ext_leftovers::destroy, kDestroyLeftover>>},
    {kImages, &table_of<kImages, Function<&hostler_ext_images::find, kFind>>},
};

}  // namespace

const void* relayed_extension(const char* id) {
  if (Relay::get().driver().get_extension(id) == nullptr) return nullptr;
  for (const Extension& extension : kExtensions)
    if (extension.id == id) return extension.table();
  return nullptr;
}

}  // namespace hostler::check
