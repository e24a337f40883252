#include "core/ssh/channel.h"

#include <algorithm>
#include <array>

#include "core/ssh/open.h"

namespace hostler::ssh {
namespace asio = boost::asio;
namespace {
constexpr std::size_t kErrorsKept = 4096;
}

struct Channel::State {
  /// Reads standard error, which else would fill the channel's window and stop the command.
  void drain_errors() {
    std::array<char, 4096> chunk{};
    for (;;) {
      const ssize_t n = libssh2_channel_read_stderr(handle.get(), chunk.data(), chunk.size());
      if (n <= 0) return;
      errors.append(chunk.data(), static_cast<std::size_t>(n));
      if (errors.size() > kErrorsKept) errors.erase(0, errors.size() - kErrorsKept);
    }
  }

  std::shared_ptr<Transport> transport;
  ChannelHandle handle;
  std::string errors;
};

Channel::Channel(std::shared_ptr<Transport> transport, _LIBSSH2_CHANNEL* channel)
    : state_(new State{transport, ChannelHandle(transport, channel), {}}) {}
Channel::Channel(Channel&&) noexcept = default;
Channel& Channel::operator=(Channel&&) noexcept = default;
Channel::~Channel() = default;

const std::string& Channel::errors() const { return state_->errors; }

void Channel::hang_up(std::string reason) { state_->transport->disconnect(std::move(reason)); }

asio::awaitable<Result<std::size_t>> Channel::read(std::span<char> into) {
  State& state = *state_;
  ssize_t n = 0;
  auto take = [&] {
    n = libssh2_channel_read(state.handle.get(), into.data(), into.size());
    if (n > 0) return true;
    state.drain_errors();
    if (n == 0) return libssh2_channel_eof(state.handle.get()) != 0;
    return n != LIBSSH2_ERROR_EAGAIN;
  };
  const Waited waited = co_await state.transport->until(take, kNever);
  if (waited != Waited::kDone || n < 0)
    co_return tl::unexpected(state.transport->error("read", waited, {}));
  co_return static_cast<std::size_t>(n);
}

asio::awaitable<Result<void>> Channel::write(std::string_view data) {
  State& state = *state_;
  ssize_t n = 0;
  auto give = [&] {
    while (!data.empty() && state.transport->has_room() && !state.transport->is_lost()) {
      n = libssh2_channel_write(state.handle.get(), data.data(), data.size());
      if (n < 0) return n != LIBSSH2_ERROR_EAGAIN;
      if (n == 0) return false;
      data.remove_prefix(static_cast<std::size_t>(n));
    }
    return data.empty();
  };
  const Waited waited = co_await state.transport->until(give, kNever);
  if (waited != Waited::kDone || n < 0)
    co_return tl::unexpected(state.transport->error("write", waited, {}, Errc::kOutcomeUnknown));
  co_return Result<void>();
}

asio::awaitable<Result<void>> Channel::finish() {
  State& state = *state_;
  int rc = 0;
  auto send = [&] {
    rc = libssh2_channel_send_eof(state.handle.get());
    return rc != LIBSSH2_ERROR_EAGAIN;
  };
  const Waited waited = co_await state.transport->until(send, kNever);
  if (waited != Waited::kDone || rc != 0)
    co_return tl::unexpected(state.transport->error("end of input", waited, {}));
  co_return Result<void>();
}

}  // namespace hostler::ssh
