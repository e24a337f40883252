#include <algorithm>
#include <array>

#include "core/base/text.h"
#include "core/ssh/open.h"
#include "core/ssh/session.h"

namespace hostler::ssh {
namespace asio = boost::asio;
namespace {

/// Feeds a command's input and takes its output, both at once: a command may answer before it has
/// read all, and neither side may wait for the other.
class Conversation {
 public:
  Conversation(Transport& transport, LIBSSH2_CHANNEL* channel, const ExecRequest& request)
      : transport_(transport),
        channel_(channel),
        input_(request.input),
        output_max_(request.output_max),
        flood_min_(request.flood_min) {}

  /// True when the command has ended, all it wrote is in `result`, or `failed` is set.
  bool step() {
    feed();
    while (take(0, result.output) || take(SSH_EXTENDED_DATA_STDERR, result.errors)) {
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
  bool flooded = false;

 private:
  void feed() {
    while (!input_.empty() && transport_.has_room()) {
      const ssize_t n = libssh2_channel_write(channel_, input_.data(), input_.size());
      if (n == LIBSSH2_ERROR_EAGAIN || n == 0) return;
      // The command may end without reading all: its status tells, not this.
      if (n < 0)
        input_ = {};
      else
        input_.remove_prefix(static_cast<std::size_t>(n));
    }
    if (!input_.empty() || finished_) return;
    finished_ = libssh2_channel_send_eof(channel_) != LIBSSH2_ERROR_EAGAIN;
  }

  bool take(int stream, std::string& into) {
    std::array<char, 16384> chunk;  // NOLINT(cppcoreguidelines-pro-type-member-init)
    const ssize_t n = libssh2_channel_read_ex(channel_, stream, chunk.data(), chunk.size());
    if (n < 0 && n != LIBSSH2_ERROR_EAGAIN) failed = true;
    if (n <= 0) return false;
    const auto got = static_cast<std::size_t>(n);
    const std::size_t kept = std::min(got, output_max_ - std::min(output_max_, into.size()));
    into.append(chunk.data(), kept);
    result.truncated = result.truncated || kept < got;
    received_ += got;
    if (received_ > flood_min_) failed = flooded = true;
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
  std::size_t flood_min_;
  std::size_t received_ = 0;
  bool finished_ = false;
};

/// The end of what a command printed, on one line.
std::string last_words(const ExecResult& result) {
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
  return end + ", " + last_words(*this);
}

asio::awaitable<Result<ExecResult>> Session::exec(ExecRequest request) {
  const auto transport = transport_;  // the session may be dropped meanwhile
  const Deadline deadline = std::chrono::steady_clock::now() + request.limit;
  auto command = request.command;
  auto handle = co_await start_command(transport, std::move(command), deadline, request.limit);
  if (!handle) co_return tl::unexpected(std::move(handle).error());

  Conversation talk(*transport, handle->get(), request);
  auto step = [&] { return talk.step(); };
  const Waited waited = co_await transport->until(step, deadline);
  if (waited != Waited::kDone || talk.failed) {
    const std::string doing = "run '" + printable(request.command, 60) + "'";
    Error error =
        talk.flooded
            ? Error{Errc::kOutcomeUnknown, doing + " with " + transport->address() +
                                               ": it floods its output, and is not read further"}
            : transport->error(doing, waited, request.limit, Errc::kOutcomeUnknown);
    error.message += "; " + last_words(talk.result);
    co_return tl::unexpected(std::move(error));
  }
  co_return std::move(talk.result);
}

}  // namespace hostler::ssh
