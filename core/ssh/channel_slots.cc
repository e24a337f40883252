#include "core/ssh/channel_slots.h"

#include <algorithm>

#include "core/base/assert.h"

namespace hostler::ssh {

bool ChannelSlots::take(const ChannelRequest& request) {
  if (opening_ || taken_ >= (request.type == "session" ? kMax : kTunnelsMax)) return false;
  request_ = request;
  window_max_ = std::max<std::size_t>(window_max_, request.window);
  opening_ = true;
  ++taken_;
  return true;
}

LIBSSH2_CHANNEL* ChannelSlots::open() {
  const auto size = [](const std::string& text) { return static_cast<unsigned>(text.size()); };
  return libssh2_channel_open_ex(ssh_, request_.type.data(), size(request_.type), request_.window,
                                 LIBSSH2_CHANNEL_PACKET_DEFAULT, request_.data.data(),
                                 size(request_.data));
}

void ChannelSlots::opened(LIBSSH2_CHANNEL* channel) {
  HOSTLER_ASSERT(opening_ && taken_ > 0, "a channel has a slot before it is opened");
  opening_ = false;
  if (channel == nullptr) --taken_;
}

bool ChannelSlots::poll() {
  if (open_abandoned_) {
    LIBSSH2_CHANNEL* const channel = open();
    if (channel != nullptr || libssh2_session_last_errno(ssh_) != LIBSSH2_ERROR_EAGAIN) {
      open_abandoned_ = false;
      opened(channel);
      if (channel != nullptr) closing_.push_back(channel);
    }
  }
  const auto freed = std::erase_if(closing_, [](LIBSSH2_CHANNEL* channel) {
    return libssh2_channel_free(channel) != LIBSSH2_ERROR_EAGAIN;
  });
  taken_ -= static_cast<int>(freed);
  HOSTLER_ASSERT(taken_ >= 0, "each freed channel had a slot");
  return freed > 0;
}

}  // namespace hostler::ssh
