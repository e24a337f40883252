#include "core/api/session.h"

#include <sys/socket.h>
#include <sys/stat.h>

#include <boost/asio/ssl.hpp>
#include <boost/beast.hpp>
#include <boost/beast/ssl.hpp>
#include <chrono>
#include <utility>

#include "core/api/target.h"

namespace hostler::api {
namespace {

namespace beast = boost::beast;
namespace http = beast::http;
using namespace std::chrono_literals;

using Executor = asio::strand<asio::io_context::executor_type>;
using PlainStream = beast::basic_stream<asio::generic::stream_protocol, Executor>;
using SecureStream = asio::ssl::stream<PlainStream>;
using boost::system::error_code;

constexpr auto kHeaderTime = 30s;
constexpr auto kWriteTime = 30s;
constexpr auto kLingerTime = 5s;
constexpr auto kFeedHeartbeat = 15s;
constexpr std::uint32_t kHeaderBytes = 16384;
constexpr std::size_t kPiece = 65536;

auto no_throw(error_code& problem) { return asio::redirect_error(asio::use_awaitable, problem); }

/// A refusal for want of a token that is known here.
void ask_for_token(Response& response) {
  response.status = 401;
  response.headers["WWW-Authenticate"] = "Bearer";
}

/// Counts a connection for as long as it lives.
class Counted {
 public:
  explicit Counted(std::shared_ptr<std::atomic<unsigned>> open) : open_(std::move(open)) {
    ++*open_;
  }
  ~Counted() { --*open_; }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;

 private:
  std::shared_ptr<std::atomic<unsigned>> open_;
};

/// What the bodies of one connection take of the memory for all.
class Share {
 public:
  Share(std::shared_ptr<std::atomic<std::uint64_t>> taken, std::uint64_t max)
      : taken_(std::move(taken)), max_(max) {}
  ~Share() { give_back(); }
  Share(const Share&) = delete;
  Share& operator=(const Share&) = delete;

  bool take(std::uint64_t bytes) {
    mine_ += bytes;
    return taken_->fetch_add(bytes) + bytes <= max_;
  }
  void give_back() { *taken_ -= std::exchange(mine_, 0); }

 private:
  const std::shared_ptr<std::atomic<std::uint64_t>> taken_;
  const std::uint64_t max_;
  std::uint64_t mine_ = 0;
};

/// Suspends until the site responds, from whatever thread it does.
asio::awaitable<Response> respond_to(Site& site, Request request) {
  auto executor = co_await asio::this_coro::executor;
  auto initiate = [&site, executor](auto handler, Request asked) {
    auto shared = std::make_shared<decltype(handler)>(std::move(handler));
    Respond respond = [shared, executor](Response response) {
      auto held = std::make_shared<Response>(std::move(response));
      asio::post(executor, [shared, held] { (*shared)(std::move(*held)); });
    };
    site.handle(std::move(asked), std::move(respond));
  };
  auto& token = asio::use_awaitable;
  Response response = co_await asio::async_initiate<const asio::use_awaitable_t<>, void(Response)>(
      std::move(initiate), token, std::move(request));
  if (response.make_body) response.body = std::exchange(response.make_body, nullptr)();
  co_return response;
}

template <class Stream>
class Session {
 public:
  Session(Stream& stream, const SessionContext& context, std::optional<Principal> peer)
      : stream_(stream),
        context_(context),
        peer_(std::move(peer)),
        share_(context.bodies, context.site->bodies_max()) {}

  asio::awaitable<void> run() {
    for (bool more = true; more;) more = co_await one_request();
  }

 private:
  asio::awaitable<bool> one_request() {
    error_code problem;
    http::request_parser<http::buffer_body> parser;
    parser.header_limit(kHeaderBytes);
    parser.body_limit(boost::none);
    beast::get_lowest_layer(stream_).expires_after(kHeaderTime);
    co_await http::async_read_header(stream_, buffer_, parser, no_throw(problem));
    if (problem == http::error::end_of_stream || problem == beast::error::timeout) co_return false;
    if (problem) {
      Response response =
          error_response({Errc::kInvalidArgument, "this is no HTTP request: " + problem.message()});
      const bool written = co_await write(std::move(response), false, false);
      if (written) co_await linger();
      co_return false;
    }
    const auto& head = parser.get();
    const bool keep_alive = head.keep_alive();
    const bool is_head = head.method() == http::verb::head;
    auto request = read_head(head);
    const bool needs_token = !request && request.error().code == Errc::kForbidden;
    if (request) {
      Request head_only = std::move(*request);
      auto complete = co_await read_rest(parser, std::move(head_only));
      request = std::move(complete);
    }
    Response response;
    if (request) {
      Request asked = std::move(*request);
      Response answer = co_await respond_to(*context_.site, std::move(asked));
      response = std::move(answer);
    } else {
      response = error_response(request.error());
      if (needs_token) ask_for_token(response);
    }
    share_.give_back();
    // What is left of the body is not worth reading: the connection ends with the answer.
    const bool whole = parser.is_done();
    const bool written = co_await write(std::move(response), keep_alive && whole, is_head);
    if (written && !whole) co_await linger();
    co_return written&& keep_alive&& whole;
  }

  /// The request with its body, unless that was written away.
  asio::awaitable<Result<Request>> read_rest(http::request_parser<http::buffer_body>& parser,
                                             Request request) {
    const auto max = context_.site->admit(request);
    if (!max) co_return tl::unexpected(max.error());
    auto upload = context_.site->upload(request);
    if (!upload) co_return tl::unexpected(upload.error());
    auto body = co_await read_body(parser, upload->get(), *max);
    if (!body) co_return tl::unexpected(body.error());
    request.body = std::move(*body);
    if (*upload)
      if (auto finished = (*upload)->finish(); !finished)
        co_return tl::unexpected(finished.error());
    co_return std::move(request);
  }

  Result<Request> read_head(const http::request<http::buffer_body>& head) {
    Request request;
    request.method = std::string(head.method_string());
    if (request.method == "HEAD") request.method = "GET";
    HOSTLER_TRY(
        parse_target(std::string_view(head.target().data(), head.target().size()), request));
    if (peer_) {
      request.who = *peer_;
      return request;
    }
    const auto header = head[http::field::authorization];
    const bool open = request.path == std::vector<std::string>{"health"};
    auto principal = context_.access->by_header(std::string_view(header.data(), header.size()));
    if (!principal && !open) return tl::unexpected(principal.error());
    if (principal) request.who = std::move(*principal);
    return request;
  }

  asio::awaitable<Result<std::string>> read_body(http::request_parser<http::buffer_body>& parser,
                                                 BlobWriter* upload, std::uint64_t max) {
    std::string kept;
    std::string piece(kPiece, '\0');
    std::uint64_t total = 0;
    const auto too_large = [max]() -> Result<std::string> {
      return fail(Errc::kTooLarge,
                  "the body is larger than " + std::to_string(max) + " bytes allowed here");
    };
    if (const auto length = parser.content_length(); length && *length > max) co_return too_large();
    if (!parser.is_done() && parser.get()[http::field::expect] == "100-continue") {
      http::response<http::empty_body> go(http::status::continue_, 11);
      error_code problem;
      co_await http::async_write(stream_, go, no_throw(problem));
    }
    beast::get_lowest_layer(stream_).expires_after(context_.deadlines.body);
    while (!parser.is_done()) {
      // An upload may be as long as it comes on.
      if (upload != nullptr)
        beast::get_lowest_layer(stream_).expires_after(context_.deadlines.upload_piece);
      parser.get().body().data = piece.data();
      parser.get().body().size = piece.size();
      error_code problem;
      co_await http::async_read(stream_, buffer_, parser, no_throw(problem));
      if (problem == http::error::need_buffer) problem = {};
      if (problem)
        co_return fail(Errc::kInvalidArgument, "the body ended early: " + problem.message());
      const std::size_t got = piece.size() - parser.get().body().size;
      total += got;
      if (total > max) co_return too_large();
      if (upload == nullptr) {
        // The first piece of each is free: what is small comes through whatever others send.
        if (total > piece.size() && !share_.take(got))
          co_return fail(Errc::kUnavailable, "too much is being sent at once; try again");
        kept.append(piece, 0, got);
      } else if (auto written = upload->append(std::string_view(piece).substr(0, got)); !written) {
        co_return tl::unexpected(written.error());
      }
    }
    co_return kept;
  }

  asio::awaitable<bool> write(Response response, bool keep_alive, bool head_only) {
    if (response.feed) co_return co_await write_feed(response.feed);
    if (response.file) co_return co_await write_file_body(*response.file, keep_alive, head_only);
    http::response<http::string_body> out(static_cast<http::status>(response.status), 11);
    out.set(http::field::content_type, response.content_type);
    for (const auto& [name, value] : response.headers) out.set(name, value);
    out.keep_alive(keep_alive);
    const std::size_t size = response.body.size();
    if (!head_only) out.body() = std::move(response.body);
    out.content_length(size);
    beast::get_lowest_layer(stream_).expires_after(kWriteTime);
    error_code problem;
    co_await http::async_write(stream_, out, no_throw(problem));
    co_return !problem;
  }

  /// Throws away what the client is still sending, for a while: closing with bytes unread resets
  /// the connection, and the answer could be lost with it.
  asio::awaitable<void> linger() {
    error_code problem;
    auto& lowest = beast::get_lowest_layer(stream_);
    lowest.socket().shutdown(asio::socket_base::shutdown_send, problem);
    lowest.expires_after(kLingerTime);
    std::string piece(kPiece, '\0');
    const auto room = asio::buffer(piece);
    while (!problem) co_await stream_.async_read_some(room, no_throw(problem));
  }

  asio::awaitable<bool> write_file_body(const UniqueFd& file, bool keep_alive, bool head_only) {
    struct stat info {};
    if (::fstat(file.get(), &info) != 0) co_return false;
    const auto size = static_cast<std::uint64_t>(info.st_size);
    http::response<http::empty_body> head(http::status::ok, 11);
    head.set(http::field::content_type, "application/octet-stream");
    head.content_length(size);
    head.keep_alive(keep_alive);
    http::response_serializer<http::empty_body> serializer(head);
    beast::get_lowest_layer(stream_).expires_after(kWriteTime);
    error_code problem;
    co_await http::async_write_header(stream_, serializer, no_throw(problem));
    std::string piece(kPiece, '\0');
    std::uint64_t sent = head_only ? size : 0;
    while (!problem && sent < size) {
      const auto want = std::min<std::uint64_t>(piece.size(), size - sent);
      const ssize_t got = ::read(file.get(), piece.data(), want);
      if (got <= 0) co_return false;
      beast::get_lowest_layer(stream_).expires_after(kWriteTime);
      const auto bytes = asio::buffer(piece.data(), static_cast<std::size_t>(got));
      co_await asio::async_write(stream_, bytes, no_throw(problem));
      sent += static_cast<std::uint64_t>(got);
    }
    co_return !problem;
  }

  /// Server-sent events: no queue of its own; a client that does not read for 30 s is dropped and
  /// resumes from its cursor.
  asio::awaitable<bool> write_feed(std::shared_ptr<Feed> feed) {
    constexpr std::string_view kHead =
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-store\r\n"
        "Connection: close\r\n\r\n";
    const int small = 65536;
    ::setsockopt(beast::get_lowest_layer(stream_).socket().native_handle(), SOL_SOCKET, SO_SNDBUF,
                 &small, sizeof small);
    error_code problem;
    beast::get_lowest_layer(stream_).expires_after(kWriteTime);
    const auto head = asio::buffer(kHead);
    co_await asio::async_write(stream_, head, no_throw(problem));
    auto executor = co_await asio::this_coro::executor;
    auto timer = std::make_shared<asio::steady_timer>(executor);
    auto news = std::make_shared<std::atomic<bool>>(false);
    const auto watch = feed->on_more([timer, news, executor] {
      if (news->exchange(true)) return;
      asio::post(executor, [timer] { timer->cancel(); });
    });
    while (!problem) {
      news->store(false);
      std::optional<std::string> piece = co_await next_piece(*feed);
      if (!piece) break;
      if (piece->empty()) {
        timer->expires_after(kFeedHeartbeat);
        error_code woken;
        if (!*news) co_await timer->async_wait(no_throw(woken));
        if (*news) continue;
        *piece = ": still here\n\n";
      }
      beast::get_lowest_layer(stream_).expires_after(kWriteTime);
      const auto bytes = asio::buffer(*piece);
      co_await asio::async_write(stream_, bytes, no_throw(problem));
    }
    co_return false;
  }

  asio::awaitable<std::optional<std::string>> next_piece(Feed& feed) {
    auto executor = co_await asio::this_coro::executor;
    auto initiate = [&feed, executor](auto handler) {
      auto shared = std::make_shared<decltype(handler)>(std::move(handler));
      std::function<void(std::optional<std::string>)> answer =
          [shared, executor](std::optional<std::string> piece) {
            auto held = std::make_shared<std::optional<std::string>>(std::move(piece));
            asio::post(executor, [shared, held] { (*shared)(std::move(*held)); });
          };
      feed.next(std::move(answer));
    };
    auto& token = asio::use_awaitable;
    std::optional<std::string> piece =
        co_await asio::async_initiate<const asio::use_awaitable_t<>,
                                      void(std::optional<std::string>)>(std::move(initiate), token);
    co_return piece;
  }

  Stream& stream_;
  const SessionContext& context_;
  const std::optional<Principal> peer_;
  Share share_;
  beast::flat_buffer buffer_;
};

std::optional<Principal> peer_of(PlainSocket& socket, const Access& access) {
  if (socket.local_endpoint().protocol().family() != AF_UNIX) return std::nullopt;
  ucred credentials{};
  socklen_t size = sizeof credentials;
  if (::getsockopt(socket.native_handle(), SOL_SOCKET, SO_PEERCRED, &credentials, &size) != 0)
    return Principal{"user unknown", Role::kRead};
  return access.by_user(credentials.uid);
}

asio::awaitable<void> serve_stream(PlainSocket socket, const SessionContext& context) {
  std::optional<Principal> peer = peer_of(socket, *context.access);
  if (context.tls == nullptr || peer) {
    PlainStream stream(std::move(socket));
    Session<PlainStream> session(stream, context, std::move(peer));
    co_await session.run();
    co_return;
  }
  PlainStream plain(std::move(socket));
  SecureStream stream(std::move(plain), *context.tls);
  error_code problem;
  beast::get_lowest_layer(stream).expires_after(kHeaderTime);
  co_await stream.async_handshake(asio::ssl::stream_base::server, no_throw(problem));
  if (problem) co_return;
  Session<SecureStream> session(stream, context, std::nullopt);
  co_await session.run();
  co_await stream.async_shutdown(no_throw(problem));
}

}  // namespace

asio::awaitable<void> serve(PlainSocket socket, SessionContext context) {
  const Counted counted(context.open);
  try {
    co_await serve_stream(std::move(socket), context);
  } catch (const std::exception&) {
    // A connection that breaks at an odd moment concerns nobody else.
  }
}

}  // namespace hostler::api
