#pragma once

#include <cstdint>
#include <string>

#include "core/agent/protocol.h"

/// What the numbers in messages of a host can be. A host may say anything: the daemon uses no
/// number that is outside these bounds. Pure.
namespace hostler::agent {

inline constexpr std::int64_t kTimeLast = 4'102'444'800'000'000;     ///< The year 2100, since 1970.
inline constexpr std::int64_t kCpuMax = std::int64_t{1} << 56U;      ///< Microseconds.
inline constexpr std::int64_t kRamMax = std::int64_t{1} << 50U;      ///< Bytes: 1 PiB.
inline constexpr std::int64_t kScratchMax = std::int64_t{1} << 60U;  ///< Bytes: 1 EiB.
inline constexpr std::uint64_t kStreamMax = std::uint64_t{1} << 60U;  ///< Bytes: 1 EiB.
inline constexpr std::uint64_t kSequenceMax = std::uint64_t{1} << 62U;

/// What bound() has found.
struct Bounded {
  /// Names the first value that cannot be: "an exit status of -5 for j-7.1". Empty: there is none.
  std::string problem;
  /// Without that value the message means nothing: it names no attempt, or says nothing else.
  bool is_void = false;
};

/// Replaces numbers that cannot be. An impossible exit status becomes a lost supervision, an amount
/// becomes 0, a scratch or RAM that cannot be is dropped with its message, cards and device files
/// are dropped from their lists, a time becomes kTimeLast, an output file becomes one that is not
/// collected. Sizes of streams in an Exit and offsets are left to the client, which knows what has
/// arrived.
Bounded bound(FromAgent& message);

}  // namespace hostler::agent
