#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <thread>

typedef struct ssl_ctx_st SSL_CTX;

namespace hostler::lxd::test {

/// Certificate and key of one party, PEM.
struct Identity {
  std::string certificate, key, sha256;
};
Identity make_identity();

/// A server of HTTP that answers every request with the same bytes, whatever they are.
class Liar {
 public:
  /// On a unix socket, or by TLS on a port of 127.0.0.1 if there is an identity.
  explicit Liar(std::string bytes, const Identity* identity = nullptr);
  ~Liar();
  Liar(const Liar&) = delete;
  Liar& operator=(const Liar&) = delete;

  [[nodiscard]] const std::string& socket() const { return path_; }
  [[nodiscard]] const std::string& url() const { return url_; }
  /// Requests of which the head has come.
  [[nodiscard]] int requests() const { return requests_; }
  /// Instead of closing the connection after its bytes it waits until the other side does.
  void keep_open() { keep_open_ = true; }
  /// The second request, on a unix socket, is read and gets no byte; nobody listens any more then.
  void leave_at_second_request() { leave_ = true; }

 private:
  void listen_on_path();
  void listen_on_port();
  void serve();
  void serve(int connection);
  void leave_at_next(int connection);

  const std::string bytes_;
  std::string folder_, path_, url_;
  std::shared_ptr<SSL_CTX> tls_;
  int listener_ = -1, stop_ = -1;
  std::atomic<int> requests_ = 0;
  std::atomic<bool> keep_open_ = false, leave_ = false;
  std::thread thread_;
};

}  // namespace hostler::lxd::test
