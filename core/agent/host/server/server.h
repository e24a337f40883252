#pragma once

#include <deque>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "core/agent/host/attempt/blobs.h"
#include "core/agent/host/attempt/cleaner.h"
#include "core/agent/host/attempt/slots.h"
#include "core/agent/host/journal/attempts.h"
#include "core/agent/host/journal/journal.h"
#include "core/agent/host/journal/sync_plan.h"
#include "core/agent/host/server/checks.h"
#include "core/agent/host/server/connection.h"
#include "core/agent/host/server/outflow.h"
#include "core/agent/host/system/cgroups.h"
#include "core/agent/host/system/os.h"
#include "core/agent/host/system/poller.h"

namespace hostler::agent {

/// The agent's one process that listens: a loop without threads. It starts shims, passes on what
/// they write, and answers the daemon. It may be killed at any moment: the next one finds all of
/// it.
class Server {
 public:
  /// Takes over the state folder (the working directory) and everything that runs in it. Fails with
  /// kConflict if another server holds it.
  static Result<std::unique_ptr<Server>> create();
  /// Until Quit, SIGTERM or SIGINT.
  void run();

 private:
  enum class Source : std::uint32_t { kListen, kSignals, kWake, kControl, kIn, kOut, kShim };

  // server.cc
  Result<void> take_lock();
  Result<void> open_state();
  Result<void> open_loop();
  void watch(int fd, Source source, std::uint32_t events);
  void handle(Source source, int fd, std::uint32_t events);
  void do_timed_work();
  int wait_ms();
  void rotate_journal();

  // server_requests.cc
  void accept_connection();
  void drop_connection();
  void read_connection();
  void flush();
  void announce();
  void send_listing();
  void on(const Quit&) { quitting_ = true; }
  void on(const Configure& configure);
  void on(const Start& start);
  void on(const Kill& kill);
  void on(const List&);
  void on(const Ack& ack);
  void on(const Credit& credit);
  void on(const ListFiles& list);
  void on(const BlobQuery& query);
  void on(const BlobPut& put);
  void on(const Ping& ping);
  std::optional<Refused> refusal(const Start& start);

  // server_shims.cc
  void adopt(Attempt& attempt);
  void watch_shim(Attempt& attempt, pid_t pid);
  void poll_shims();
  void signal_shim(const Attempt& attempt, int number);
  bool fork_shim(const Start& start, Attempt& attempt);
  std::uint32_t uid_of(std::uint32_t slot) const;
  void on_signals();
  void report(Checks::Finding&& finding);
  void on_shims_gone(const std::vector<model::AttemptId>& ids);
  void read_journal();
  void lost_supervision(Attempt& attempt);
  void on_wake();
  void forget(model::AttemptId id);
  std::string marker(const Attempt& attempt) const;

  UniqueFd lock_;
  UniqueFd locks_;
  UniqueFd listener_;
  UniqueFd signals_;
  UniqueFd wake_;
  Poller poller_;
  std::string folder_;  ///< Absolute path of the state folder.
  std::string boot_id_;
  std::string sha256_;  ///< Of this program.
  Journal journal_;
  Attempts attempts_;
  SyncPlan sync_plan_;
  std::map<pid_t, model::AttemptId> children_;
  std::map<int, model::AttemptId> found_shims_;  ///< By their pidfd.
  std::set<model::AttemptId> polled_shims_;      ///< Those of which there is no pidfd.
  Configure config_;
  Blobs blobs_;
  Checks checks_;
  Cleaner cleaner_;
  Slots slots_;
  Cgroups cgroups_;
  std::unique_ptr<Connection> connection_;
  Outflow outflow_;
  std::deque<model::AttemptId> unannounced_;  ///< Ended; their Exit is not queued yet.
  bool want_out_ = false;                     ///< Waiting to be able to write.
  bool quitting_ = false;
  std::int64_t poll_at_ = 0;        ///< Boottime; 0: no shim is to be polled.
  std::int64_t idle_at_ = 0;        ///< Boottime; when free slots lose their cgroups; 0: they have.
  std::uint64_t rotate_above_ = 0;  ///< Bytes in the journal's newest file.
};

}  // namespace hostler::agent
