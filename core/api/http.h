#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/api/service.h"
#include "core/base/files.h"

/// HTTP as values: handlers do not see sockets, and only connection, session, request_head and
/// reply use Beast.
namespace hostler::api {

struct Request {
  std::string method;                        ///< "GET"
  std::vector<std::string> path;             ///< Segments, percent-decoded: {"v1", "jobs", "j-42"}.
  std::map<std::string, std::string> query;  ///< Decoded; the last one of a key given twice.
  std::string body;
  Principal who;
  /// Counts memory that the handler takes, beside the body, until the request is answered. False:
  /// all requests together take too much. Empty: it is not counted.
  std::function<bool(std::uint64_t bytes)> take_memory = {};
  bool is_private = false;  ///< It came over the unix socket or TLS, and so goes the answer.

  /// The query's value, or `fallback`.
  [[nodiscard]] std::string query_or(const std::string& key, const std::string& fallback) const {
    const auto found = query.find(key);
    return found == query.end() ? fallback : found->second;
  }
};

/// A stream, mostly of server-sent events, which lasts as long as the client reads.
class Feed {
 public:
  virtual ~Feed() = default;
  /// Gives the next piece. Empty: there is nothing yet; nullopt: the stream has ended. Blocks for a
  /// read of the store at most, and never waits for events.
  virtual void next(std::function<void(std::optional<std::string>)> piece) = 0;
  /// Calls `wake` when next() may have more, until the returned handle is destroyed.
  virtual std::shared_ptr<void> on_more(std::function<void()> wake) = 0;
};

struct Response {
  unsigned status = 200;
  std::string content_type = "application/json";
  std::map<std::string, std::string>
      headers;  ///< In addition to content type, length and connection.
  std::string body;
  std::function<std::string()> make_body;  ///< If set, makes `body` on the server's thread.
  std::optional<UniqueFd> file;            ///< Sent instead of body, as application/octet-stream.
  std::shared_ptr<Feed> feed;              ///< Sent instead of body, as `feed_type`.
  std::string feed_type = "text/event-stream";
};
using Respond = std::function<void(Response)>;

/// What a client is told when all requests together take too much memory.
inline constexpr const char* kTooMuchAtOnce = "too much is being sent at once; try again";

/// How many bytes of one kind may be in memory: those of all connections, and those of one source.
struct MemoryBounds {
  std::uint64_t all = 0, of_source = 0;
};

/// How long a client may take to send a body or to receive an answer.
struct Deadlines {
  std::chrono::seconds body{600};         ///< A whole body that is kept in memory.
  std::chrono::seconds upload_piece{60};  ///< Each 64 KiB of a body that is stored at once.
  std::chrono::seconds answer_piece{30};  ///< Each 64 KiB of an answer, each piece of a feed.
};

/// The application behind the server: decides about requests and answers them.
class Site {
 public:
  virtual ~Site() = default;
  /// The maximum body size of this request, in bytes. An error answers the request, and its body is
  /// not read. Only admitted requests are passed to the calls below.
  virtual Result<std::uint64_t> admit(const Request& request) = 0;
  /// What the bodies of requests, and what is made of them, may take in memory.
  [[nodiscard]] virtual MemoryBounds bodies_max() const = 0;
  /// Where to store the body of this request while it comes; null: it is kept in memory. The
  /// writer's calls block the server's thread while they write. Errors answer the request.
  virtual Result<std::unique_ptr<BlobWriter>> upload(const Request& request) = 0;
  /// Called on any of the server's threads. Calls `respond` once, on any thread.
  virtual void handle(Request request, Respond respond) = 0;
};

/// `{"code":...,"message":...,"path":...}` with the status of its code.
Response error_response(const Error& error);
unsigned http_status(Errc code);

}  // namespace hostler::api
