#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

/// What hostlerd and the process of a driver send each other. A message of the socket has one or
/// several frames, each with a head.
namespace hostler::driver_host {

enum class FrameType : std::uint16_t {
  // To the driver's process, over the socket of calls. Each is one driver function.
  kOpen = 1,
  kInfo,
  kCreate,
  kList,
  kDestroy,
  kSetTags,
  kVerify,
  kPriceHistory,
  kQuotaGroup,
  kStart,
  kStop,
  kOfferings,
  kWatch,
  kReadConsole,
  kListLeftovers,
  kDestroyLeftover,
  kFindImages,
  // To the driver's process, over the socket of control.
  kCancel = 64,
  kPing,
  kClose,
  // From the driver's process.
  kHello = 128,  ///< Once, first: which driver this is.
  kFailed,       ///< In place of kHello: why there is no driver.
  kRecord,       ///< The driver has emitted a record.
  kReturned,     ///< The function has returned PENDING: its thread is free.
  kEnd,          ///< The call is over.
  kBrokenRule,   ///< The driver broke a rule outside of a call, or after its end.
  kLog,
  kPong,
  kCrashed,   ///< The process is about to die of a signal or an exit.
  kOutdated,  ///< Files that it may read have been replaced: only a new process can read the new.
};

/// More frames of this call and type follow; together they are one.
inline constexpr std::uint16_t kMore = 1;
/// The body is in a file whose descriptor comes with the message. Only to the driver's process.
inline constexpr std::uint16_t kInFile = 2;

/// A flag of kCrashed: the library's entry function was running.
inline constexpr std::uint16_t kInEntry = 4;

struct FrameHead {
  std::uint32_t size = 0;  ///< Of the body, in bytes.
  FrameType type{};
  std::uint16_t flags = 0;
  std::uint64_t call = 0;  ///< 0: of none.
};
static_assert(sizeof(FrameHead) == 16);

struct Frame {
  FrameHead head;
  std::string_view body;
};

/// Takes the first frame off a message. Nothing at its end, and if the message is malformed: then
/// `message` is not empty.
std::optional<Frame> next_frame(std::string_view& message);

/// Appends a frame to `message`. Splits a body that does not fit into frames with kMore; `flush` is
/// called with each message that is full, and clears it.
template <class Flush>
void append_frame(std::string& message, FrameType type, std::uint64_t call, std::string_view body,
                  std::size_t message_max, const Flush& flush);

/// A message of one frame.
std::string make_message(FrameType type, std::uint64_t call, std::string_view body,
                         std::uint16_t flags = 0);

// ---- inline ------------------------------------------------------------------------------------

inline void append_head(std::string& message, const FrameHead& head) {
  message.append(reinterpret_cast<const char*>(&head), sizeof head);
}

template <class Flush>
void append_frame(std::string& message, FrameType type, std::uint64_t call, std::string_view body,
                  std::size_t message_max, const Flush& flush) {
  while (true) {
    if (message.size() + sizeof(FrameHead) + body.size() > message_max && !message.empty()) flush();
    const std::size_t room = message_max - sizeof(FrameHead);
    const std::string_view part = body.substr(0, room);
    body.remove_prefix(part.size());
    append_head(message, {.size = static_cast<std::uint32_t>(part.size()),
                          .type = type,
                          .flags = body.empty() ? std::uint16_t{0} : kMore,
                          .call = call});
    message.append(part);
    if (body.empty()) return;
    flush();
  }
}

}  // namespace hostler::driver_host
