#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <string>
#include <thread>
#include <vector>

#include "core/base/files.h"
#include "core/base/mutex.h"

namespace hostler::test {

/// An HTTP server on loopback that answers with any bytes, also such as no server should. Each
/// connection has one request and a thread.
class FakeHttp {
 public:
  struct Reply {
    enum class Then : std::uint8_t {
      kClose,
      kHang,     ///< Nothing more comes, and the connection stays open.
      kTrickle,  ///< The bytes of `more` come one by one, without an end.
      kFlood,    ///< `more` comes again and again, as fast as it is read.
    };
    std::string bytes;
    Then then = Then::kClose;
    std::string more = "x";
  };
  /// `request`: its head and its body, as they came. Called on the threads of connections.
  using Handler = std::function<Reply(const std::string& request)>;

  explicit FakeHttp(Handler handler);
  ~FakeHttp();
  FakeHttp(const FakeHttp&) = delete;
  FakeHttp& operator=(const FakeHttp&) = delete;

  /// "http://127.0.0.1:40123"
  [[nodiscard]] std::string url() const;
  [[nodiscard]] std::vector<std::string> requests();
  /// Blocks until so many have come.
  void wait_for_requests(std::size_t count);

 private:
  void accept_all();
  void serve(int connection);
  /// Until the client has gone, or the server stops. `more` is sent meanwhile.
  void go_on(int connection, const Reply& reply);

  const Handler handler_;
  UniqueFd listener_, stop_;
  int port_ = 0;
  Mutex mutex_;
  Condition come_;
  std::vector<std::string> requests_ HOSTLER_GUARDED_BY(mutex_);
  std::list<std::thread> threads_;  ///< Of connections; of the thread that accepts.
  std::thread accepting_;
};

/// A whole answer with this body.
FakeHttp::Reply http_reply(const std::string& body, const std::string& status = "200 OK",
                           const std::string& header = "");

}  // namespace hostler::test
