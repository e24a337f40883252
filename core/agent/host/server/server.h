#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "core/agent/host/attempt/blobs.h"
#include "core/agent/host/server/card_reader.h"
#include "core/agent/host/server/checks.h"
#include "core/agent/host/server/event_source.h"
#include "core/agent/host/server/session.h"
#include "core/agent/host/server/supervisor.h"
#include "core/agent/host/system/os.h"
#include "core/agent/host/system/poller.h"

namespace hostler::agent {

/// The server process of the agent: one event loop without threads, which passes each event to the
/// supervisor, the checks, the reader of cards or the session. It may be killed at any moment: the
/// next server finds all attempts and their shims again.
class Server {
 public:
  /// Takes over the state folder (the working directory) and everything that runs in it. Fails with
  /// kConflict if another server holds it.
  static Result<std::unique_ptr<Server>> create();
  /// Returns after Quit, SIGTERM or SIGINT.
  void run();

 private:
  Result<void> take_lock();
  Result<void> open_signals();
  Result<void> open_state();
  Result<void> open_loop();
  void watch(int fd, EventSource source, std::uint32_t events);

  void handle(EventSource source, int fd, std::uint32_t events);
  void accept_session();
  void on_signals();
  void on_child_exit(pid_t pid, int status);
  void read_session();
  void announce_ended();
  void announce_cards();
  void flush_session();
  int wait_ms();

  UniqueFd lock_;
  UniqueFd listener_;
  UniqueFd signals_;
  Poller poller_;
  std::string sha256_;  ///< Of this program.
  Blobs blobs_;
  Checks checks_;
  CardReader cards_;
  Supervisor supervisor_{poller_, checks_, cards_};
  std::unique_ptr<Session> session_;  ///< Null while no daemon is connected.
  bool quitting_ = false;
};

}  // namespace hostler::agent
