#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <thread>

#include "core/base/error.h"
#include "core/base/files.h"
#include "core/base/mutex.h"

namespace hostler::check {

/// What the proxy does to exchanges. An exchange is a piece of one direction's bytes, which the
/// client begins: with HTTP, a request and its answer.
struct Fault {
  enum class Kind : std::uint8_t {
    kNone,
    kLoseReply,  ///< The request arrives; of the answer nothing does, and the connection ends.
    kReset,      ///< The request does not arrive, and the connection is reset.
    kSilence,    ///< The request does not arrive, and nothing happens.
    kAnswer,     ///< The request does not arrive: `answer` comes instead, and the connection ends.
    kReplace,    ///< The request arrives, `answer` comes in place of its answer, and the connection
                 ///< ends.
    kCut,        ///< The answer ends after 30 bytes, and with it the connection.
  };
  Kind kind = Kind::kNone;
  int first = 0;       ///< The first exchange that it happens to, counted from arm().
  bool once = true;    ///< Else to all that follow too.
  std::string answer;  ///< Bytes as they are.
};

/// Stands between a driver and its cloud, on a port of 127.0.0.1. Passes bytes on without looking
/// at them, so it does not matter what they are. Holds 64 connections at most and 64 KiB of each
/// direction, and ends a connection after 64 MiB.
///
/// Threads: all functions on any; it has one of its own. Its descriptors are the kit's
/// (kit_descriptors.h).
class FaultProxy {
 public:
  /// To where connections lead, "127.0.0.1", "8080".
  static Result<std::unique_ptr<FaultProxy>> start(const std::string& host,
                                                   const std::string& port);
  ~FaultProxy();
  FaultProxy(const FaultProxy&) = delete;
  FaultProxy& operator=(const FaultProxy&) = delete;

  [[nodiscard]] std::uint16_t port() const { return port_; }
  /// From now on, with the count of exchanges at 0.
  void arm(Fault fault);
  void disarm() { arm({}); }
  /// Since the last arm().
  [[nodiscard]] int exchanges() const { return exchanges_; }
  [[nodiscard]] bool has_happened() const { return has_happened_; }

 private:
  struct Link;
  FaultProxy(UniqueFd listener, UniqueFd wake, std::string host, std::string host_port,
             std::uint16_t port);
  void run();
  void accept_one();
  bool read_client(Link& link);
  bool read_server(Link& link);
  Fault::Kind begin_exchange();
  bool write_out(Link& link);
  bool serve(Link& link, short client, short server);

  const UniqueFd listener_, wake_;
  const std::string host_, host_port_;
  const std::uint16_t port_;
  std::atomic<bool> ends_{false}, has_happened_{false};
  std::atomic<int> exchanges_{0};
  Mutex mutex_;
  Fault fault_ HOSTLER_GUARDED_BY(mutex_);
  std::list<Link> links_;  ///< The thread's.
  std::thread thread_;
};

}  // namespace hostler::check
