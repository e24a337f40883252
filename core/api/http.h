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

/// HTTP as values, so that handlers know nothing of sockets and only session, reply and connection
/// know Beast.
namespace hostler::api {

struct Request {
  std::string method;                        ///< "GET"
  std::vector<std::string> path;             ///< Segments, percent-decoded: {"v1", "jobs", "j-42"}.
  std::map<std::string, std::string> query;  ///< Decoded; of a key given twice the last.
  std::string body;
  Principal who;

  /// The query's value, or `otherwise`.
  [[nodiscard]] std::string query_or(const std::string& key, const std::string& otherwise) const {
    const auto found = query.find(key);
    return found == query.end() ? otherwise : found->second;
  }
};

/// Text that goes on for as long as the client reads (server-sent events).
class Feed {
 public:
  virtual ~Feed() = default;
  /// The next piece; empty: nothing yet; nullopt: the end. Never waits for events, only for a
  /// read of the store.
  virtual void next(std::function<void(std::optional<std::string>)> piece) = 0;
  /// Calls `wake` when next() may have more; the handle ends it.
  virtual std::shared_ptr<void> on_more(std::function<void()> wake) = 0;
};

struct Response {
  unsigned status = 200;
  std::string content_type = "application/json";
  std::map<std::string, std::string> headers;  ///< Beside content type, length and connection.
  std::string body;
  std::function<std::string()> make_body;  ///< Makes it on the server's thread; empty: it is made.
  std::optional<UniqueFd> file;            ///< Sent instead of body, as application/octet-stream.
  std::shared_ptr<Feed> feed;              ///< Sent instead of body, as text/event-stream.
};
using Respond = std::function<void(Response)>;

/// How long a client may take to send a body, or to take an answer.
struct Deadlines {
  std::chrono::seconds body{600};         ///< One that is kept in memory, in all.
  std::chrono::seconds upload_piece{60};  ///< Each 64 KiB of one that is written away.
  std::chrono::seconds answer_piece{30};  ///< Each 64 KiB of an answer, each piece of a feed.
};

/// What stands behind the server.
class Site {
 public:
  virtual ~Site() = default;
  /// How long the body of this request may be, in bytes; an error answers the request, whose body
  /// is not read. Only what is admitted comes to the calls below.
  virtual Result<std::uint64_t> admit(const Request& request) = 0;
  /// Bytes of bodies that may be in memory at a time, of all connections.
  [[nodiscard]] virtual std::uint64_t bodies_max() const = 0;
  /// A request whose body is to be written away as it comes; null: it is kept in memory.
  /// Blocking calls on the server's thread; errors answer the request.
  virtual Result<std::unique_ptr<BlobWriter>> upload(const Request& request) = 0;
  /// Any of the server's threads; `respond` once, from any thread.
  virtual void handle(Request request, Respond respond) = 0;
};

/// `{"code":...,"message":...,"path":...}` with the status of its code.
Response error_response(const Error& error);
unsigned http_status(Errc code);

}  // namespace hostler::api
