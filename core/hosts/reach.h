#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace hostler::hosts {

/// What the tries to reach a host through a jump host have shown. Its link keeps it.
struct Reach {
  enum class Standing : std::uint8_t {
    kAnswers,  ///< The last try has reached it.
    kNew,      ///< It was not tried yet, or refused the connection at once.
    kSilent,   ///< At the last try it did not answer.
  };
  std::string host;  ///< The address that this is about.
  std::uint16_t port = 0;
  Standing standing = Standing::kNew;
  std::chrono::steady_clock::time_point tried;  ///< The last time.
};

}  // namespace hostler::hosts
