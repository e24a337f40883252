#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace hostler::model {

/// Which drivers a site takes, beside the rules for who may change their files. `kLocal`: all;
/// `kPinned`: those whose library the configuration names by its digest; `kSigned`: those whose
/// manifest is signed by one of the site's keys.
enum class DriverTrust : std::uint8_t { kLocal, kPinned, kSigned };

inline constexpr std::array<std::string_view, 3> kDriverTrustNames{"local", "pinned", "signed"};

constexpr std::string_view to_string(DriverTrust trust) {
  return kDriverTrustNames.at(static_cast<std::size_t>(trust));
}

}  // namespace hostler::model
