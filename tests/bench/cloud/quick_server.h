#pragma once

#include <atomic>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

namespace hostler::bench {

/// Head and body of a request, without anything between them.
struct QuickRequest {
  std::string head, body;
};

/// A server of HTTP that answers at once, on a unix socket or on a port of loopback.
class QuickServer {
 public:
  /// The whole answer to a request, with its head; called by several threads at once. What it
  /// points to lives as long as the server.
  using Answer = std::function<std::shared_ptr<const std::string>(const QuickRequest& request)>;
  enum class On { kUnixSocket, kLoopback };

  QuickServer(On on, Answer answer);
  ~QuickServer();
  QuickServer(const QuickServer&) = delete;
  QuickServer& operator=(const QuickServer&) = delete;

  [[nodiscard]] const std::string& socket() const { return path_; }  ///< Empty on loopback.
  [[nodiscard]] int port() const { return port_; }                   ///< 0 on a unix socket.

 private:
  void listen_on_socket();
  void listen_on_loopback();
  void accept_all();
  void serve(int connection);

  const Answer answer_;
  std::string folder_, path_;
  int port_ = 0;
  int listener_ = -1;
  std::thread acceptor_;
  std::mutex mutex_;
  std::list<int> open_;  ///< Under mutex_.
  std::atomic<int> serving_ = 0;
};

/// A whole answer. \param status "200 OK"
std::string http_answer(const std::string& status, const std::string& type,
                        const std::string& body);

}  // namespace hostler::bench
