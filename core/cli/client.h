#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "core/base/error.h"
#include "core/cli/endpoint.h"
#include "core/cli/query.h"
#include "core/json/document.h"

namespace hostler::cli {

/// A client of the daemon's HTTP API. For one thread; every call blocks until the answer is
/// complete. kUnavailable means that no daemon answered, and the message says what to do. Any other
/// error was sent by the daemon and has the daemon's code and path.
class Client {
 public:
  explicit Client(Endpoint endpoint);
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  [[nodiscard]] const Endpoint& endpoint() const { return endpoint_; }
  /// True if the last call failed with `error` because the daemon may be restarting: call again
  /// later. False for a certificate that is not trusted, because that does not change by itself.
  [[nodiscard]] bool may_retry(const Error& error) const;

  Result<json::Document> get(const std::string& path);
  Result<json::Document> post(const std::string& path, const std::string& body);
  Result<json::Document> put(const std::string& path, const std::string& body);
  Result<json::Document> remove(const std::string& path);
  /// False if the daemon answers 404 for `path`.
  Result<bool> has(const std::string& path);
  Result<void> put_file(const std::string& path, const std::string& file);
  /// Writes the answer's body to the descriptor. kMisbehaving: it has more than `max` bytes.
  Result<void> get_file(const std::string& path, int fd, std::uint64_t max);
  /// Gives the body of the answer to `take` as it comes. Returns its first error, after which
  /// nothing more is read.
  Result<void> receive(const std::string& path,
                       const std::function<Result<void>(std::string_view)>& take);
  /// Reads a stream of server-sent events. Calls `on_event` with the data of each event, and
  /// `on_idle` several times a second. Returns when one of the two returns false, or when the
  /// stream ends, even if the daemon did not end it properly. Returns an error if the daemon sends
  /// one in the stream.
  Result<void> follow(const std::string& path,
                      const std::function<bool(std::string_view)>& on_event,
                      const std::function<bool()>& on_idle = {});
  /// The body of the answer, unparsed.
  Result<std::string> text(const std::string& path);

 private:
  struct Handle;
  Result<std::string> perform();
  /// `method`: null for POST.
  Result<json::Document> send(const char* method, const std::string& path, const std::string& body);
  void begin(const std::string& path);
  void set_trusted_certificates();
  [[nodiscard]] Error connection_error(int curl_code) const;

  const Endpoint endpoint_;
  std::unique_ptr<Handle> handle_;
};

}  // namespace hostler::cli
