#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace hostler::model {

/// What is taken from the process of a driver; a greater one takes more. `kNone`: privileges of no
/// kind but core files; `kFiles`: all files that a driver does not need, and privileges; `kFull`:
/// also the system calls that it does not need.
enum class Sandbox : std::uint8_t { kNone, kFiles, kFull };

inline constexpr std::array<std::string_view, 3> kSandboxNames{"none", "files", "full"};

constexpr std::string_view to_string(Sandbox sandbox) {
  return kSandboxNames.at(static_cast<std::size_t>(sandbox));
}
/// Nothing if it is none of the names.
constexpr std::optional<Sandbox> parse_sandbox(std::string_view name) {
  for (std::size_t i = 0; i < kSandboxNames.size(); ++i)
    if (kSandboxNames.at(i) == name) return static_cast<Sandbox>(i);
  return std::nullopt;
}

}  // namespace hostler::model
