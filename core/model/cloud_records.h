#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/time.h"
#include "core/model/cloud.h"
#include "core/model/image.h"
#include "core/model/interruption.h"
#include "core/model/offering.h"

/// What the extensions of a driver are asked for, and what they answer: values of
/// sdk/include/hostler/driver.h. Texts are the driver's.
namespace hostler::model {

struct OfferingsQuery {
  std::vector<std::string> provider_types;  ///< Empty: all.
  std::optional<Market> market;             ///< None: all.
};
enum class Availability : std::uint8_t { kUnknown, kYes, kNo };
/// A type that the cloud sells in a zone and a market.
struct CloudOffering {
  std::string provider_type, region;
  std::string zone;  ///< Empty: every zone.
  std::string architecture;
  Resources resources;   ///< 0: not known.
  GpuGroups gpu_groups;  ///< Of all its gpus; empty: not said.
  std::optional<Micros> price_per_hour;
  Market market = Market::kOnDemand;
  Availability available = Availability::kUnknown;
};

struct ConsoleQuery {
  std::string id;
  std::uint64_t offset = 0;     ///< From there on.
  std::uint64_t bytes_max = 0;  ///< The last so many; 0: all.
};
/// What an instance has written to its console: any bytes.
struct ConsoleText {
  std::uint64_t offset = 0;  ///< Of the first byte in the whole.
  std::string bytes;         ///< Without what may be missing between two pieces.
  Wall as_of;                ///< 0: not known.
  /// Where something is missing between two pieces for the first time, counted as `offset` is.
  std::optional<std::uint64_t> gap = {};
};

/// A thing with our tag that outlived its instance.
struct Leftover {
  std::string type, id;
  std::string instance_id;  ///< Empty: not known.
  Tags tags;
  Wall created;
};
struct LeftoverDestroyRequest {
  std::string type, id, expected_set_id;
};

}  // namespace hostler::model
