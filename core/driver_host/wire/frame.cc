#include "core/driver_host/wire/frame.h"

#include <cstring>

namespace hostler::driver_host {

std::optional<Frame> next_frame(std::string_view& message) {
  Frame frame;
  if (message.size() < sizeof frame.head) return std::nullopt;
  std::memcpy(&frame.head, message.data(), sizeof frame.head);
  if (message.size() - sizeof frame.head < frame.head.size) return std::nullopt;
  frame.body = message.substr(sizeof frame.head, frame.head.size);
  message.remove_prefix(sizeof frame.head + frame.head.size);
  return frame;
}

std::string make_message(FrameType type, std::uint64_t call, std::string_view body,
                         std::uint16_t flags) {
  std::string message;
  append_head(message, {.size = static_cast<std::uint32_t>(body.size()),
                        .type = type,
                        .flags = flags,
                        .call = call});
  message.append(body);
  return message;
}

}  // namespace hostler::driver_host
