#pragma once

#include <cstddef>
#include <cstdint>

namespace hostler::driver_host {

/// Raised when the form of a frame changes in a way that the rules of growth do not cover. Both
/// sides must have the same.
inline constexpr std::uint32_t kWireVersion = 3;

/// Of a driver's process: what it allocates, or all of it where a cgroup counts; and where none
/// does, what it shares.
inline constexpr std::uint64_t kMemoryMax = std::uint64_t{4} << 30U;
/// Of one memory file and of one shared mapping.
inline constexpr std::uint64_t kSharedPieceMax = std::uint64_t{64} << 20U;

/// Threads of a driver's process, those of our program included. In a cgroup the programs that it
/// starts count too.
inline constexpr std::uint32_t kThreadsMax = 1024;

/// Of one message of a socket: well below the kernel's limit, which its administrator can lower.
inline constexpr std::size_t kDatagramMax = std::size_t{60} << 10;
/// Of all texts in one request. What a user data may have beside keys and tags.
inline constexpr std::size_t kRequestBytesMax = std::size_t{64} << 20;
/// Of all texts in one record that are passed on; twice what a record may have (R15), so that one
/// that has too much still shows it.
inline constexpr std::size_t kRecordTextMax = std::size_t{512} << 10;
/// Of an array in a record or request; more tags than a record may have.
inline constexpr std::size_t kItemsMax = 100'000;
/// Of one record in its frames: its texts, and for each item of two arrays what stands beside them.
inline constexpr std::size_t kRecordFramesMax = kRecordTextMax + 64 * kItemsMax;

/// In place of a length: there is a length, but no address.
inline constexpr std::uint32_t kNoText = 0xffffffff;
/// In place of a length: the text is too long to be passed on. Its length follows, in 64 bits.
inline constexpr std::uint32_t kTooLong = 0xfffffffe;

}  // namespace hostler::driver_host
