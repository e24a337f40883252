#pragma once

#include <string>
#include <string_view>

namespace hostler::lxd {

// What this driver writes into the config of a container. LXD keeps every key that begins with
// "user.".
inline constexpr std::string_view kTag = "user.";  ///< Before the name of each tag.
/// Before what only the driver reads; no tags.
inline constexpr std::string_view kPrivate = "user.hostler-driver.";
inline constexpr const char* kProviderType = "user.hostler-driver.type";
inline constexpr const char* kDigest = "user.hostler-driver.digest";  ///< Of the create request.

/// The name of the container that an idempotency key makes: it is in the cloud itself that a key is
/// used once. The first characters of the key are readable in it.
std::string name_of_key(std::string_view key);

/// Whether a tag of this name and value is kept as it is. What the driver or cloud-init reads is
/// not one.
bool is_tag(std::string_view name, std::string_view value);

/// FNV-1a, 64 bits, in hexadecimal.
std::string hash_of(std::string_view text);

}  // namespace hostler::lxd
