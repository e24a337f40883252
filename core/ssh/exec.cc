#include <algorithm>
#include <array>

#include "core/base/text.h"
#include "core/ssh/open.h"
#include "core/ssh/session.h"

namespace hostler::ssh {
namespace asio = boost::asio;
namespace {

/// The input and output of one command. It writes and reads in turns: a command may print before it
/// has read all its input, and then neither side may wait for the other.
class CommandIo {
 public:
  CommandIo(Transport& transport, LIBSSH2_CHANNEL* channel, const ExecRequest& request)
      : transport_(transport),
        channel_(channel),
        input_(request.input),
        output_max_(request.output_max),
        received_max_(request.received_max) {}

  /// Moves what can be moved now. True when the command has ended and `result` is complete, or when
  /// `failed` is set.
  bool step() {
    write_input();
    while (read(0, result.output) || read(SSH_EXTENDED_DATA_STDERR, result.errors)) {
    }
    if (failed) return true;
    if (libssh2_channel_eof(channel_) == 0) return false;
    const int rc = libssh2_channel_wait_closed(channel_);
    if (rc == LIBSSH2_ERROR_EAGAIN) return false;
    failed = rc != 0;
    if (!failed) read_status();
    return true;
  }

  ExecResult result;
  bool failed = false;
  bool too_much = false;

 private:
  void write_input() {
    while (!input_.empty() && transport_.has_room()) {
      const ssize_t n = libssh2_channel_write(channel_, input_.data(), input_.size());
      if (n == LIBSSH2_ERROR_EAGAIN || n == 0) return;
      // No failure yet: a command may end before it has read all, its status tells.
      if (n < 0)
        input_ = {};
      else
        input_.remove_prefix(static_cast<std::size_t>(n));
    }
    if (!input_.empty() || finished_) return;
    finished_ = libssh2_channel_send_eof(channel_) != LIBSSH2_ERROR_EAGAIN;
  }

  /// Reads one chunk of a stream. False if there is none now.
  bool read(int stream, std::string& into) {
    std::array<char, 16384> chunk;  // NOLINT(cppcoreguidelines-pro-type-member-init)
    const ssize_t n = libssh2_channel_read_ex(channel_, stream, chunk.data(), chunk.size());
    if (n < 0 && n != LIBSSH2_ERROR_EAGAIN) failed = true;
    if (n <= 0) return false;
    const auto got = static_cast<std::size_t>(n);
    const std::size_t kept = std::min(got, output_max_ - std::min(output_max_, into.size()));
    into.append(chunk.data(), kept);
    result.truncated = result.truncated || kept < got;
    received_ += got;
    if (received_ > received_max_) failed = too_much = true;
    return !failed;
  }

  void read_status() {
    char* signal = nullptr;
    libssh2_channel_get_exit_signal(channel_, &signal, nullptr, nullptr, nullptr, nullptr, nullptr);
    if (signal != nullptr) {
      result.signal = signal;
      libssh2_free(transport_.ssh(), signal);
    } else {
      result.status = libssh2_channel_get_exit_status(channel_);
    }
  }

  Transport& transport_;
  LIBSSH2_CHANNEL* channel_;
  std::string_view input_;
  std::size_t output_max_;
  std::size_t received_max_;
  std::size_t received_ = 0;
  bool finished_ = false;
};

/// The end of a command's output, on one line.
std::string end_of_output(const ExecResult& result) {
  constexpr std::size_t kShown = 400;
  std::string_view text = result.errors;
  if (text.empty()) text = result.output;
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.remove_suffix(1);
  if (text.size() > kShown) text.remove_prefix(text.size() - kShown);
  return text.empty() ? "it printed nothing" : "it printed '" + printable(text, kShown) + "'";
}

}  // namespace

std::string ExecResult::describe() const {
  const std::string end = !signal.empty() ? "signal " + signal
                          : status        ? "status " + std::to_string(*status)
                                          : "no status";
  return end + ", " + end_of_output(*this);
}

asio::awaitable<Result<ExecResult>> Session::exec(ExecRequest request) {
  const auto transport = transport_;  // the session may be destroyed meanwhile
  const Deadline deadline = std::chrono::steady_clock::now() + request.limit;
  auto command = request.command;
  auto handle = co_await start_command(transport, std::move(command), deadline, request.limit);
  if (!handle) co_return tl::unexpected(std::move(handle).error());

  CommandIo io(*transport, handle->get(), request);
  auto step = [&] { return io.step(); };
  const Waited waited = co_await transport->until(step, deadline);
  if (waited != Waited::kDone || io.failed) {
    const std::string doing = "run '" + printable(request.command, 60) + "'";
    Error error =
        io.too_much ? Error{Errc::kOutcomeUnknown, doing + " with " + transport->address() +
                                                       ": it prints too much; the rest is not read"}
                    : transport->error(doing, waited, request.limit, Errc::kOutcomeUnknown);
    error.message += "; " + end_of_output(io.result);
    co_return tl::unexpected(std::move(error));
  }
  co_return std::move(io.result);
}

}  // namespace hostler::ssh
