#include "core/ssh/open.h"

#include "core/base/text.h"

namespace hostler::ssh {
namespace asio = boost::asio;
namespace {

/// If its coroutine is destroyed before the open is complete, the transport completes the open in
/// the background: libssh2 keeps the state of an open in the session, and cannot cancel it.
struct OpenGuard {
  explicit OpenGuard(Transport& owner) : transport(owner) {}
  OpenGuard(const OpenGuard&) = delete;
  OpenGuard& operator=(const OpenGuard&) = delete;
  ~OpenGuard() {
    if (pending) transport.abandon_open();
  }
  Transport& transport;
  bool pending = true;
};

}  // namespace

asio::awaitable<Opened> open_taken(std::shared_ptr<Transport> transport, Deadline deadline) {
  OpenGuard guard(*transport);
  Opened out;
  auto open = [&] {
    out.channel = transport->channels().open();
    return out.channel != nullptr ||
           libssh2_session_last_errno(transport->ssh()) != LIBSSH2_ERROR_EAGAIN;
  };
  out.waited = co_await transport->until(open, deadline);
  if (out.waited != Waited::kDone) co_return out;
  guard.pending = false;
  transport->channels().opened(out.channel);
  co_return out;
}

asio::awaitable<Result<ChannelHandle>> start_command(std::shared_ptr<Transport> transport,
                                                     std::string command, Deadline deadline,
                                                     Duration limit) {
  bool mine = false;
  const ChannelRequest session;
  auto take = [&] {
    return mine = mine || (!transport->is_lost() && transport->channels().take(session));
  };
  const Waited slot = co_await transport->until(take, deadline);
  if (slot != Waited::kDone) {
    Error error = transport->error("wait for a free channel", slot, limit);
    if (slot == Waited::kDeadline && transport->channels().closing() > 0)
      error.message += "; " + std::to_string(transport->channels().closing()) +
                       " are used by commands that passed their limit and still run on the host";
    co_return tl::unexpected(std::move(error));
  }

  const Opened opened = co_await open_taken(transport, deadline);
  LIBSSH2_CHANNEL* const channel = opened.channel;
  if (opened.waited != Waited::kDone)
    co_return tl::unexpected(transport->error("open a channel", opened.waited, limit));
  if (channel == nullptr) {
    Error error = transport->error("open a channel", opened.waited, limit);
    error.message += "; the server refuses sessions: check MaxSessions in its sshd_config";
    co_return tl::unexpected(std::move(error));
  }
  ChannelHandle handle(transport, channel);

  int rc = 0;
  bool closed = false;
  auto start = [&] {
    rc = libssh2_channel_exec(channel, command.c_str());
    // libssh2 waits for an answer for ever, even if the server has closed the channel instead.
    closed = rc == LIBSSH2_ERROR_EAGAIN && libssh2_channel_eof(channel) != 0;
    return rc != LIBSSH2_ERROR_EAGAIN || closed;
  };
  const Waited started = co_await transport->until(start, deadline);
  if (closed)
    co_return fail(Errc::kOutcomeUnknown,
                   "start '" + printable(command, 60) + "' with " + transport->address() +
                       ": the server closed the channel instead of answering");
  if (started != Waited::kDone || rc != 0) {
    const Errc code = started == Waited::kDone ? Errc::kUnavailable : Errc::kOutcomeUnknown;
    co_return tl::unexpected(
        transport->error("start '" + printable(command, 60) + "'", started, limit, code));
  }
  co_return handle;
}

}  // namespace hostler::ssh
