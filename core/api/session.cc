#include "core/api/session.h"

#include <sys/socket.h>

#include <algorithm>
#include <boost/asio/ssl/context.hpp>
#include <boost/beast/core/error.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/read_size.hpp>
#include <boost/beast/http/buffer_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <chrono>
#include <utility>

#include "core/api/reply.h"
#include "core/api/request_head.h"
#include "core/api/target.h"
#include "core/async/await_callback.h"
#include "core/base/text.h"

namespace hostler::api {
namespace {

namespace beast = boost::beast;
namespace http = beast::http;
using namespace std::chrono_literals;
using Parser = http::request_parser<http::buffer_body>;

constexpr auto kHeaderTime = 30s;
/// For the TLS handshake and the first header of a client that nobody knows yet.
constexpr auto kFirstTime = 5s;
constexpr auto kLingerTime = 5s;
constexpr std::uint32_t kHeaderBytes = 16384;
/// What is read and not parsed yet. The parser takes the lines between the chunks of a body only as
/// a whole.
constexpr std::size_t kUnparsedMax = kPiece + kHeaderBytes;

constexpr const char* kTooMuchUnread =
    "too many answers have not been read yet; read them, then ask again";

/// Turns a refusal into 401, which asks the client for a token.
void ask_for_token(Response& response) {
  response.status = 401;
  response.headers["WWW-Authenticate"] = "Bearer";
}

/// Answers that wait in memory until their clients have read them. Only lists are that long.
constexpr MemoryBounds kAnswers{std::uint64_t{256} << 20U, std::uint64_t{64} << 20U};

asio::awaitable<Response> respond_to(Site& site, const Client& client, Request request) {
  const auto kind = request.body.size() > kPiece ? Turns::Kind::kLarge : Turns::Kind::kRequest;
  auto turn = co_await client.take_turn(kind);
  auto handle = [&site, asked = std::move(request), turn = std::move(turn)](auto respond) mutable {
    site.handle(std::move(asked), std::move(respond));
    turn.reset();  // The answer may take long.
  };
  Response response = co_await async::await_callback<Response>(std::move(handle));
  if (response.make_body) {
    const auto another = co_await client.take_turn(kind);
    response.body = std::exchange(response.make_body, nullptr)();
  }
  co_return response;
}

class Session {
 public:
  Session(Connection& connection, const SessionContext& context, std::optional<Principal> peer)
      : connection_(connection),
        context_(context),
        peer_(std::move(peer)),
        is_known_(peer_.has_value()),
        client_{context.turns, context.place->share()},
        body_memory_(std::make_shared<Memory>(context.bodies, count(&Share::bodies),
                                              context.site->bodies_max())) {}

  asio::awaitable<void> run() {
    for (bool more = true; more;) more = co_await one_request();
  }

 private:
  asio::awaitable<bool> one_request() {
    const auto limit = context_.deadlines.answer_piece;
    error_code problem;
    Parser parser;
    parser.header_limit(kHeaderBytes);
    parser.body_limit(boost::none);
    if (is_known_) connection_.expires_after(kHeaderTime);
    head_text_.clear();
    while (!problem && !parser.is_header_done()) co_await parse_some(parser, problem);
    if (problem == http::error::end_of_stream || problem == beast::error::timeout) co_return false;
    if (problem) {
      Response response =
          error_response({Errc::kInvalidArgument, "this is no HTTP request: " + problem.message()});
      Standing nobody;
      const bool written = co_await write_response(connection_, client_, std::move(response), false,
                                                   false, limit, std::move(nobody));
      if (written) co_await linger();
      co_return false;
    }
    is_known_ = true;
    const auto& head = parser.get();
    const auto framed = check_head(head, head_text_);
    const bool keep_alive = head.keep_alive() && framed;
    const bool is_head = head.method() == http::verb::head;
    auto request = framed ? read_head(head) : Result<Request>(tl::unexpected(framed.error()));
    const bool needs_token = !request && request.error().code == Errc::kForbidden;
    if (request) {
      Request head_only = std::move(*request);
      auto complete = co_await read_rest(parser, std::move(head_only));
      request = std::move(complete);
    }
    Response response;
    Standing standing = request ? standing_of(head, request->who) : Standing{};
    if (request) {
      Request asked = std::move(*request);
      Response answer = co_await respond_to(*context_.site, client_, std::move(asked));
      response = std::move(answer);
    } else {
      response = error_response(request.error());
      if (needs_token) ask_for_token(response);
      if (!framed && expects_unknown(head)) response.status = 417;
    }
    body_memory_->give_back();
    Memory memory(context_.answers, count(&Share::answers), kAnswers);
    if (!memory.take(response.body.size())) {
      memory.give_back();
      response = error_response({Errc::kUnavailable, kTooMuchUnread});
    }
    // The rest of a body is not read: then the connection ends with the answer.
    const bool whole = parser.is_done();
    const bool goes_on = keep_alive && whole;
    const bool written = co_await write_response(connection_, client_, std::move(response), goes_on,
                                                 is_head, limit, std::move(standing));
    if (written && (!whole || !framed)) co_await linger();
    co_return written&& goes_on;
  }

  /// Adds the body to the request, unless it is an upload, which is stored.
  asio::awaitable<Result<Request>> read_rest(Parser& parser, Request request) {
    const auto max = context_.site->admit(request);
    if (!max) co_return tl::unexpected(max.error());
    auto upload = context_.site->upload(request);
    if (!upload) co_return tl::unexpected(upload.error());
    auto body = co_await read_body(parser, upload->get(), *max);
    if (!body) co_return tl::unexpected(body.error());
    request.body = std::move(*body);
    request.take_memory = [memory = body_memory_](std::uint64_t bytes) {
      return memory->take(bytes);
    };
    if (*upload) {
      const auto turn = co_await client_.take_turn(Turns::Kind::kLarge);
      if (auto finished = (*upload)->finish(); !finished)
        co_return tl::unexpected(finished.error());
    }
    co_return std::move(request);
  }

  Result<Request> read_head(const http::request<http::buffer_body>& head) {
    Request request;
    request.method = std::string(head.method_string());
    if (request.method == "HEAD") request.method = "GET";
    HOSTLER_TRY(
        parse_target(std::string_view(head.target().data(), head.target().size()), request));
    request.is_private = peer_ || context_.tls != nullptr;
    if (peer_) {
      request.who = *peer_;
      return request;
    }
    const auto header = head[http::field::authorization];
    const bool open = request.path == std::vector<std::string>{"health"};
    auto principal = context_.access->by_header(std::string_view(header.data(), header.size()));
    if (!principal && !open) return tl::unexpected(principal.error());
    if (principal) {
      request.who = std::move(*principal);
      if (!context_.place->prove(request.who.name))
        return fail(Errc::kUnavailable,
                    "too many connections with this token are open; close some of them");
    }
    return request;
  }

  [[nodiscard]] Standing standing_of(const http::request<http::buffer_body>& head,
                                     const Principal& who) const {
    if (peer_ || who.name.empty()) return {};
    const auto header = head[http::field::authorization];
    return context_.access->standing({header.data(), header.size()}, who);
  }

  asio::awaitable<Result<std::string>> read_body(Parser& parser, BlobWriter* upload,
                                                 std::uint64_t max) {
    std::string kept;
    std::string piece(kPiece, '\0');
    std::uint64_t total = 0;
    const auto too_large = [max]() -> Result<std::string> {
      return fail(Errc::kTooLarge,
                  "the body is larger than " + std::to_string(max) + " bytes allowed here");
    };
    if (const auto length = parser.content_length(); length && *length > max) co_return too_large();
    if (!parser.is_done() && parser.get().count(http::field::expect) != 0) {
      constexpr std::string_view kGoOn = "HTTP/1.1 100 Continue\r\n\r\n";
      const std::string_view nothing;
      error_code problem;
      co_await connection_.write(kGoOn, nothing, problem);
    }
    connection_.expires_after(context_.deadlines.body);
    parser.eager(true);
    while (!parser.is_done()) {
      // An upload may take any time while it makes progress.
      if (upload != nullptr) connection_.expires_after(context_.deadlines.upload_piece);
      parser.get().body().data = piece.data();
      parser.get().body().size = piece.size();
      error_code problem;
      while (!problem && !parser.is_done()) co_await parse_some(parser, problem);
      if (problem == http::error::need_buffer) problem = {};
      if (problem == http::error::header_limit)
        co_return fail(Errc::kInvalidArgument, "a line between the chunks of the body is too long");
      if (problem)
        co_return fail(Errc::kInvalidArgument, "the body ended early: " + problem.message());
      const std::size_t got = piece.size() - parser.get().body().size;
      total += got;
      if (total > max) co_return too_large();
      if (upload == nullptr) {
        if (!body_memory_->take(got)) co_return fail(Errc::kUnavailable, kTooMuchAtOnce);
        kept.append(piece, 0, got);
      } else if (auto written = upload->append(std::string_view(piece).substr(0, got)); !written) {
        co_return tl::unexpected(written.error());
      }
    }
    co_return kept;
  }

  /// Reads and parses until the parser has made a step: the header, a full buffer or the end.
  asio::awaitable<void> parse_some(Parser& parser, error_code& problem) {
    for (;;) {
      if (buffer_.size() > 0) {
        const auto bytes = buffer_.cdata();
        const bool in_head = !parser.is_header_done();
        const std::size_t used = parser.put(bytes, problem);
        if (in_head) head_text_.append(static_cast<const char*>(bytes.data()), used);
        buffer_.consume(used);
        if (problem != http::error::need_more) co_return;
        problem = {};
      }
      const auto room = buffer_.prepare(beast::read_size(buffer_, kPiece));
      if (room.size() == 0) {
        problem = http::error::header_limit;
        co_return;
      }
      const std::size_t got = co_await connection_.read_some(room, problem);
      buffer_.commit(got);
      if (problem == asio::error::eof) {
        problem = http::error::end_of_stream;
        if (parser.got_some()) parser.put_eof(problem);
        co_return;
      }
      if (problem) co_return;
    }
  }

  /// Reads and ignores what the client still sends, for a few seconds. Closing a socket with unread
  /// bytes resets the connection, and the client could lose the answer.
  asio::awaitable<void> linger() {
    error_code problem;
    connection_.finish_sending();
    connection_.expires_after(kLingerTime);
    std::string piece(kPiece, '\0');
    const auto room = asio::buffer(piece);
    while (!problem) co_await connection_.read_some(room, problem);
  }

  /// A count of its source.
  [[nodiscard]] MemoryCount count(std::atomic<std::uint64_t> Share::*which) const {
    return {client_.source, &(client_.source.get()->*which)};
  }

  Connection& connection_;
  const SessionContext& context_;
  const std::optional<Principal> peer_;
  bool is_known_;  ///< By the socket, or it has sent a request.
  const Client client_;
  const std::shared_ptr<Memory> body_memory_;
  beast::flat_buffer buffer_{kUnparsedMax};
  std::string head_text_;  ///< The bytes of the head of this request.
};

std::optional<Principal> peer_of(PlainSocket& socket, const Access& access) {
  if (socket.local_endpoint().protocol().family() != AF_UNIX) return std::nullopt;
  ucred credentials{};
  socklen_t size = sizeof credentials;
  if (::getsockopt(socket.native_handle(), SOL_SOCKET, SO_PEERCRED, &credentials, &size) != 0)
    return Principal{"user unknown", Role::kRead};
  return access.by_user(credentials.uid);
}

asio::awaitable<void> serve_socket(PlainSocket socket, const SessionContext& context) {
  std::optional<Principal> peer = peer_of(socket, *context.access);
  const asio::any_io_executor strand = socket.get_executor();
  const std::shared_ptr<Connection> connection =
      context.tls == nullptr || peer ? plain_connection(std::move(socket))
                                     : secure_connection(std::move(socket), *context.tls);
  context.place->on_cut([strand, weak = std::weak_ptr(connection)] {
    asio::post(strand, [weak] {
      if (const auto open = weak.lock()) open->cut();
    });
  });
  error_code problem;
  connection->expires_after(kFirstTime);
  co_await connection->begin(problem);
  if (problem) co_return;
  Session session(*connection, context, std::move(peer));
  co_await session.run();
  co_await connection->end(problem);
}

}  // namespace

asio::awaitable<void> serve(PlainSocket socket, SessionContext context) {
  try {
    co_await serve_socket(std::move(socket), context);
  } catch (const std::exception&) {
    // A broken connection must not affect others.
  }
}

}  // namespace hostler::api
