#pragma once

#include <atomic>
#include <list>
#include <mutex>
#include <string>
#include <thread>

namespace hostler::lxd::bench {

/// Says what LXD says, at once and without having done anything, on a unix socket. There are always
/// the same instances, and never the one that is asked for by its name.
class QuickServer {
 public:
  explicit QuickServer(int instances);
  ~QuickServer();
  QuickServer(const QuickServer&) = delete;
  QuickServer& operator=(const QuickServer&) = delete;

  [[nodiscard]] const std::string& socket() const { return path_; }
  /// Of the list of all instances, in bytes.
  [[nodiscard]] std::size_t list_bytes() const { return list_.size(); }

 private:
  void accept_all();
  void serve(int connection);
  [[nodiscard]] std::string answer_to(const std::string& head) const;

  std::string list_, folder_, path_;
  int listener_ = -1;
  std::thread acceptor_;
  std::mutex mutex_;
  std::list<int> open_;  ///< Under mutex_.
  std::atomic<int> serving_ = 0;
};

}  // namespace hostler::lxd::bench
