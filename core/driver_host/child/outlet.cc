#include "core/driver_host/child/outlet.h"

#include <unistd.h>

#include <cerrno>

#include "core/driver_host/wire/limits.h"
#include "core/driver_host/wire/socket.h"

namespace hostler::driver_host {
namespace {

/// hostlerd reads it where it reads what drivers write.
void say(std::string_view line) { (void)!::write(STDERR_FILENO, line.data(), line.size()); }

}  // namespace

void Outlet::send(std::string_view message) const {
  if (send_message(socket_, message, true) == Sent::kSent) return;
  if (errno == EBADF || errno == ENOTSOCK)
    say("R44: the driver has closed the descriptors of its process\n");
  ::_exit(0);
}

void Outlet::send_frame(FrameType type, std::uint64_t call, std::string_view body) const {
  std::string messages;
  append_frame(messages, type, call, body);
  flush(messages);
}

void Outlet::append_frame(std::string& messages, FrameType type, std::uint64_t call,
                          std::string_view body) const {
  driver_host::append_frame(messages, type, call, body, kDatagramMax, [&] { flush(messages); });
}

void Outlet::flush(std::string& messages) const {
  if (!messages.empty()) send(messages);
  messages.clear();
}

}  // namespace hostler::driver_host
