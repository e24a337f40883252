#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/time.h"
#include "core/json/document.h"

/// What a recording of the calls of a driver is: lines of JSON. README.md of this folder describes
/// them.
namespace hostler::tap {

inline constexpr std::int64_t kVersion = 1;
/// Of a line with its newline. A record that does not fit is left out and counted.
inline constexpr std::size_t kLineBytesMax = std::size_t{64} * 1024;

/// The functions of plugin_host::DriverSet.
enum class Function : std::uint8_t {
  kOpen,
  kInfo,
  kCreate,
  kList,
  kDestroy,
  kSetTags,
  kVerifyHostKey,
  kPriceHistory,
  kQuotaGroup,
  kStart,
  kStop,
  kOfferings,
  kWatchInterruptions,
  kReadConsole,
  kListLeftovers,
  kDestroyLeftover,
  kFindImages,
};
inline constexpr std::array<std::string_view, 17> kFunctionNames{
    "open",        "info",     "create",     "list",
    "destroy",     "set_tags", "verify_key", "price_history",
    "quota_group", "start",    "stop",       "offerings",
    "watch",       "console",  "leftovers",  "destroy_leftover",
    "images"};
constexpr std::string_view to_string(Function function) {
  return kFunctionNames.at(static_cast<std::size_t>(function));
}

/// From here on another process recorded: numbers and times begin anew.
struct Session {
  std::string set, driver;
  Wall began;
};

/// One call. Its request and its records have the members that requests.cc and records.cc write;
/// whoever reads them gets a default for each that is missing or of another kind.
struct Call {
  explicit Call(json::Document its) : line(std::move(its)) {}

  std::uint64_t number = 0;  ///< From 1; a gap is what was lost as the disk was too slow.
  Function function{};
  Duration start{};  ///< Since the session began.
  Duration took{};
  std::string status;  ///< "ok", or the class of the error: "capacity", ...
  json::Document line;

  [[nodiscard]] bool ok() const { return status == "ok"; }
  [[nodiscard]] Duration end() const { return start + took; }
  [[nodiscard]] json::Value request() const { return line.root().at("request"); }
  [[nodiscard]] json::Value records() const { return line.root().at("records"); }
  [[nodiscard]] json::Value error() const { return line.root().at("error"); }
};

/// Why nothing follows in a session.
struct End {
  std::string why;  ///< "closed": the daemon has ended; "limit": the file may not be larger.
};

}  // namespace hostler::tap
