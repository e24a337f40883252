#include "core/api/reply.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/write.hpp>
#include <sstream>
#include <utility>

#include "core/api/feeds.h"
#include "core/async/await_callback.h"

namespace hostler::api {
namespace {

namespace http = boost::beast::http;
using namespace std::chrono_literals;
using Head = http::response<http::empty_body>;

constexpr auto kFeedHeartbeat = 15s;

std::string text_of(const Head& head) {
  std::ostringstream text;
  text << head.base();
  return std::move(text).str();
}

std::string head_of(const Response& response, bool keep_alive) {
  Head head(static_cast<http::status>(response.status), 11);
  head.set(http::field::content_type, response.content_type);
  for (const auto& [name, value] : response.headers) head.set(name, value);
  head.keep_alive(keep_alive);
  head.content_length(response.body.size());
  return text_of(head);
}

asio::awaitable<bool> write_body(Connection& connection, const Response& response, bool keep_alive,
                                 bool head_only, std::chrono::seconds limit) {
  const std::string text = head_of(response, keep_alive);
  std::string_view start = text;
  std::string_view body = head_only ? std::string_view() : std::string_view(response.body);
  error_code problem;
  do {
    const std::string_view piece = body.substr(0, kPiece);
    connection.expires_after(limit);
    co_await connection.write(start, piece, problem);
    body.remove_prefix(piece.size());
    start = {};
  } while (!problem && !body.empty());
  co_return !problem;
}

asio::awaitable<bool> write_file(Connection& connection, const UniqueFd& file, bool keep_alive,
                                 bool head_only, std::chrono::seconds limit) {
  struct stat info {};
  if (::fstat(file.get(), &info) != 0) co_return false;
  const auto size = static_cast<std::uint64_t>(info.st_size);
  Head head(http::status::ok, 11);
  head.set(http::field::content_type, "application/octet-stream");
  head.content_length(size);
  head.keep_alive(keep_alive);
  const std::string text = text_of(head);
  connection.expires_after(limit);
  error_code problem;
  const std::string_view nothing;
  co_await connection.write(text, nothing, problem);
  std::string piece(kPiece, '\0');
  std::uint64_t sent = head_only ? size : 0;
  while (!problem && sent < size) {
    const auto want = std::min<std::uint64_t>(piece.size(), size - sent);
    const ssize_t got = ::read(file.get(), piece.data(), want);
    if (got <= 0) co_return false;
    connection.expires_after(limit);
    const std::string_view bytes(piece.data(), static_cast<std::size_t>(got));
    co_await connection.write(bytes, nothing, problem);
    sent += bytes.size();
  }
  co_return !problem;
}

/// Waits until a feed may have more.
class FeedWaiter {
 public:
  FeedWaiter(const asio::any_io_executor& executor, Feed& feed, const Standing& standing)
      : signal_(std::make_shared<Signal>(executor)) {
    const auto wake = [signal = signal_, executor] {
      if (!signal->is_set.exchange(true))
        asio::post(executor, [signal] { signal->timer.cancel(); });
    };
    watch_ = feed.on_more(wake);
    if (standing.on_change) standing_watch_ = standing.on_change(wake);
  }

  void reset() { signal_->is_set = false; }
  /// True: there may be more. False: nothing came for the time of a heartbeat.
  asio::awaitable<bool> wait() {
    signal_->timer.expires_after(kFeedHeartbeat);
    error_code cancelled;
    if (!signal_->is_set) co_await signal_->timer.async_wait(no_throw(cancelled));
    co_return signal_->is_set;
  }

 private:
  struct Signal {
    explicit Signal(const asio::any_io_executor& executor) : timer(executor) {}
    asio::steady_timer timer;
    std::atomic<bool> is_set{false};
  };
  const std::shared_ptr<Signal> signal_;
  std::shared_ptr<void> watch_, standing_watch_;
};

/// The last event of a feed whose client may not receive it any more; empty: it may.
std::string end_of(const Standing& standing) {
  if (!standing.check) return {};
  const auto may = standing.check();
  return may ? std::string() : error_event(may.error());
}

/// The next piece, made in a turn of the client.
asio::awaitable<std::optional<std::string>> next_piece(const Client& client, Feed& feed) {
  auto turn = co_await client.take_turn(Turns::Kind::kStream);
  auto next = [&feed, turn = std::move(turn)](auto give) mutable {
    feed.next(std::move(give));
    turn.reset();
  };
  auto piece = co_await async::await_callback<std::optional<std::string>>(std::move(next));
  co_return piece;
}

asio::awaitable<void> write_feed(Connection& connection, const Client& client,
                                 std::shared_ptr<Feed> feed, std::string type, bool head_only,
                                 std::chrono::seconds limit, Standing standing) {
  const std::string head = "HTTP/1.1 200 OK\r\nContent-Type: " + type +
                           "\r\nCache-Control: no-store\r\nConnection: close\r\n\r\n";
  const int small = 65536;
  ::setsockopt(connection.native_handle(), SOL_SOCKET, SO_SNDBUF, &small, sizeof small);
  error_code problem;
  connection.expires_after(limit);
  const std::string_view nothing;
  co_await connection.write(head, nothing, problem);
  if (head_only) co_return;
  const asio::any_io_executor executor = co_await asio::this_coro::executor;
  FeedWaiter waiter(executor, *feed, standing);
  while (!problem) {
    waiter.reset();
    auto piece = co_await next_piece(client, *feed);
    if (!piece) break;
    const std::string last = end_of(standing);
    if (!last.empty()) {
      const std::string_view bytes = last;
      connection.expires_after(limit);
      co_await connection.write(bytes, nothing, problem);
      break;
    }
    if (piece->empty()) {
      const bool more = co_await waiter.wait();
      if (more) continue;
      *piece = ": still here\n\n";
    }
    connection.expires_after(limit);
    const std::string_view bytes = *piece;
    co_await connection.write(bytes, nothing, problem);
  }
}

}  // namespace

std::string whole_text(const Response& response) {
  return head_of(response, /*keep_alive=*/false) + response.body;
}

asio::awaitable<bool> write_response(Connection& connection, const Client& client,
                                     Response response, bool keep_alive, bool head_only,
                                     std::chrono::seconds limit, Standing standing) {
  if (response.file)
    co_return co_await write_file(connection, *response.file, keep_alive, head_only, limit);
  if (!response.feed)
    co_return co_await write_body(connection, response, keep_alive, head_only, limit);
  auto feed = std::move(response.feed);
  std::string type = std::move(response.feed_type);
  co_await write_feed(connection, client, std::move(feed), std::move(type), head_only, limit,
                      std::move(standing));
  co_return false;
}

}  // namespace hostler::api
