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

/// Speaks to the daemon's API. One thread; blocking. kUnavailable: nobody answers there, and what
/// to do; other errors are the daemon's own, with its code and path.
class Client {
 public:
  explicit Client(Endpoint endpoint);
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  [[nodiscard]] const Endpoint& endpoint() const { return endpoint_; }
  /// Whether to wait for the daemon after the last call's error: it may be back soon. A stranger's
  /// certificate stays one.
  [[nodiscard]] bool may_come_back(const Error& error) const;

  Result<json::Document> get(const std::string& path);
  Result<json::Document> post(const std::string& path, const std::string& body);
  /// True if the daemon has something at `path`.
  Result<bool> has(const std::string& path);
  Result<void> put_file(const std::string& path, const std::string& file);
  /// Writes the answer's body into `file`, which changes only if all of it came.
  Result<void> get_file(const std::string& path, const std::string& file);
  /// Calls `on_event` with the data of each server-sent event until it returns false or the stream
  /// ends, in order or not; `on_idle`, several times a second, likewise. An error that the stream
  /// tells is the daemon's own.
  Result<void> follow(const std::string& path,
                      const std::function<bool(std::string_view)>& on_event,
                      const std::function<bool()>& on_idle = {});
  /// The bare answer, whatever it is.
  Result<std::string> text(const std::string& path);

 private:
  struct Handle;
  Result<std::string> perform();
  void begin(const std::string& path);
  void trust();
  [[nodiscard]] Error unanswered(int curl_code) const;

  const Endpoint endpoint_;
  std::unique_ptr<Handle> handle_;
};

}  // namespace hostler::cli
