#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/driver_host/wire/frame.h"
#include "hostler/driver.h"

/// The bodies of frames that are not structs of the ABI.
namespace hostler::driver_host {

/// What limits the process of a driver.
struct InForce {
  std::string sandbox;       ///< "full", "files" or "none"
  std::string memory_limit;  ///< "cgroup", "process" or "none"
  std::string cpu_limit;     ///< "cgroup", "nice" or "none"
  friend bool operator==(const InForce&, const InForce&) = default;
};

/// What the process of a driver says of itself and of the driver's table. Texts are the driver's.
struct Hello {
  std::uint32_t wire_version = 0;
  std::string host_version;  ///< Of the program hostler-driver-host.
  std::string name, version, vendor, license, runtime, config_schema_json;
  std::uint32_t threading = 0, max_concurrency = 1, min_host_minor = 0;
  std::uint32_t abi_minor = 0;
  std::vector<std::string> extensions;  ///< Ids of those that the driver has.
  InForce in_force;
  friend bool operator==(const Hello&, const Hello&) = default;
};

/// How the driver ended a call: what it returned or passed to complete(), and hostler_error.
struct End {
  hostler_status status = HOSTLER_OK;
  std::uint32_t scope = 0, flags = 0;
  std::int64_t retry_after_ms = -1, quota_limit = -1, quota_used = -1;
  std::vector<std::string> texts;  ///< By HOSTLER_TEXT_*; may be shorter.
  std::string broken_rule;         ///< "R29: ..."; empty: none.
  friend bool operator==(const End&, const End&) = default;
};

/// A line that the driver has logged.
struct LogLine {
  std::uint32_t level = 0;
  std::string text;
  friend bool operator==(const LogLine&, const LogLine&) = default;
};

/// Why the process dies: a signal, or exit() called by the driver.
struct Crash {
  std::int32_t signal = 0;       ///< 0: exit() was called.
  std::int32_t exit_status = 0;  ///< Of exit().
  friend bool operator==(const Crash&, const Crash&) = default;
};

std::string to_body(const Hello& hello);
std::string to_body(const End& end);
std::string to_body(const LogLine& line);

// Nothing if the body is malformed.
std::optional<Hello> read_hello(std::string_view body);
std::optional<End> read_end(std::string_view body);
std::optional<LogLine> read_log_line(std::string_view body);
std::optional<Crash> read_crash(std::string_view body);

}  // namespace hostler::driver_host
