#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
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

/// Which drivers are taken, of those whose files only root and this user can change.
struct TrustedDrivers {
  DriverTrust trust = DriverTrust::kLocal;
  std::map<std::string, std::string> keys = {};  ///< By name: public keys, crypto/signature.h.
  std::map<std::string, std::string> sha256 =
      {};  ///< By driver: what alone is allowed, Manifest::pinned_by().
  friend bool operator==(const TrustedDrivers&, const TrustedDrivers&) = default;
};

}  // namespace hostler::model
