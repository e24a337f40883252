#pragma once

#include <deque>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "core/agent/host/attempt/blobs.h"
#include "core/agent/host/server/card_reader.h"
#include "core/agent/host/server/checks.h"
#include "core/agent/host/server/connection.h"
#include "core/agent/host/server/output_sender.h"
#include "core/agent/host/server/supervisor.h"
#include "core/agent/host/system/poller.h"

namespace hostler::agent {

/// One connection to the daemon, from its greeting to its end: carries out the daemon's messages
/// and sends exits and output. Begins with a default Configure. The first Cards come before all
/// exits, output and findings: until then the daemon does not know which attempts are its own. Used
/// by the server's one thread; reads and writes of the connection never block.
class Session {
 public:
  /// The parts of the server that the daemon's messages are for.
  struct Parts {
    Poller& poller;
    Supervisor& supervisor;
    Blobs& blobs;
    Checks& checks;
    CardReader& cards;
  };

  /// Queues the greeting, Hello with this `agent_sha`, and the listing. `parts` must outlive the
  /// session.
  Session(std::unique_ptr<Connection> connection, Parts parts, std::string agent_sha);
  /// Removes incomplete blobs and closes the connection.
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  [[nodiscard]] const Connection& connection() const { return *connection_; }

  /// Reads from the connection and carries out the messages. False: end the session.
  bool on_readable();
  /// Sends exits, then output, as far as the connection takes them. False: end the session.
  bool flush();
  /// These attempts have ended.
  void on_ended(const std::set<model::AttemptId>& ids);
  /// The attempt may have new output.
  void on_new_output(model::AttemptId id) { output_.on_new_output(id); }
  void on_finding(const Checks::Finding& finding);
  /// A reading of the cards that is to be told.
  void on_cards(const Cards& cards);
  /// The daemon has sent Quit.
  [[nodiscard]] bool quit_asked() const { return quit_asked_; }

 private:
  void send_hello(std::string agent_sha);
  void send_scratch();
  void send_ram();
  void send_listing();
  void send_exits();
  void apply(const Configure& configure);
  /// The host could not do something for a job: if its own folder is the cause, says so first.
  void tell_lost_folder();
  void on(const Quit&) { quit_asked_ = true; }
  void on(const Configure& configure);
  void on(const Guard& guard);
  void on(const Start& start);
  void on(const Kill& kill);
  void on(const Interrupt& notice);
  void on(const List&);
  void on(const Ack& ack);
  void on(const Credit& credit);
  void on(const ListFiles& list);
  void on(const BlobQuery& query);
  void on(const BlobPut& put);
  void on(const Ping& ping);

  std::unique_ptr<Connection> connection_;
  Parts parts_;
  OutputSender output_;
  std::deque<model::AttemptId> exits_;  ///< Ended attempts whose Exit is not queued yet.
  bool waits_for_room_ = false;         ///< The poller watches for room to write.
  bool quit_asked_ = false;
  bool told_lost_folder_ = false;
  bool told_cards_ = false;
  std::vector<Checks::Finding> early_findings_;  ///< Before the first Cards.
};

}  // namespace hostler::agent
