#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace hostler::fake {

/// Of one provider type.
struct TypeSettings {
  std::optional<std::int64_t> stock;             ///< Machines in all zones; nothing: no limit.
  std::map<std::string, std::int64_t> stock_in;  ///< The same by zone.
  std::string group;                             ///< Its quota group; empty: none.
  std::int64_t price = 0;                        ///< Millionths of the currency, per hour.
  std::int64_t spot_price = 0;                   ///< Around which the spot price moves.
  std::int64_t vcpus = 0, gpus = 0, ram_gib = 0, scratch_gib = 0;  ///< Of offerings.
  std::string architecture;                                        ///< Likewise.
  std::string gpu_kind;                                            ///< Likewise; empty: not said.
  std::int64_t gpu_memory_gib = 0;                                 ///< Likewise; 0: not said.
};

/// The dials of a fake cloud. README.md says what each does; 0 or empty turns it off.
struct Settings {
  std::uint64_t seed = 1;
  std::string cloud;            ///< Sets of one process with the same name share one cloud.
  bool clock_of_steps = false;  ///< Else the time of the machine.
  std::int64_t step_ms = 0;     ///< How far each call moves a clock of steps.
  std::string region, currency, address;
  std::int64_t ssh_port = 0;
  std::vector<std::string> zones;
  std::map<std::string, TypeSettings> types;   ///< Empty: every type is there, without limit.
  std::map<std::string, std::int64_t> quotas;  ///< Machines by quota group.
  std::int64_t instances_max = 0;
  std::int64_t latency_ms = 0, latency_spread_ms = 0;
  std::int64_t boot_ms = 0, boot_spread_ms = 0;
  double boot_failures = 0, late_shortages = 0;
  double calls_per_second = 0;
  std::int64_t burst = 1;
  std::int64_t reclaim_ms = 0, reclaim_notice_ms = 0;
  std::int64_t price_interval_ms = 0;
  double price_spread = 0;
  std::int64_t consistency_ms = 0;
  double errors = 0, lost_requests = 0, lost_replies = 0;
};

/// The JSON Schema of the config. read_settings() checks more than the schema.
extern const char* const kSchema;

/// Throws driver::Error(HOSTLER_E_INVALID) that names the field.
Settings read_settings(const std::string& json);

}  // namespace hostler::fake
