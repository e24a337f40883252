#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/agent/client.h"
#include "core/hosts/host_context.h"

namespace hostler::hosts {

/// Output and output files of attempts on one conversation: hands them to the store, and
/// acknowledges them to the agent once they are durable. Output that cannot be kept is given up
/// with its reason, so that no attempt waits for it. Output without room stays on its host: see
/// OutputRoom. Hosts thread only.
class OutputReceiver : public std::enable_shared_from_this<OutputReceiver> {
 public:
  /// `on_progress` is called on the hosts thread after the store has answered: the client may have
  /// events and bytes to send then. Not called once this object is gone.
  OutputReceiver(boost::asio::io_context& io, HostContext& host, agent::Client& client,
                 std::function<void()> on_progress);

  /// Of an attempt whose output is to come; after the event was reported.
  void on_exit(model::AttemptId attempt, const model::AttemptEnd& end);
  void on_chunk(agent::Chunk& chunk);
  void on_files(const agent::Files& files);
  void on_lost(const agent::OutputLost& lost) { add_loss(lost.attempt, lost.text); }
  void on_collected(const agent::Collected& collected);

  /// The attempt's end is durable: the agent may forget it. Sent by send_acks().
  void ack(model::AttemptId attempt);
  /// Queues the acknowledgements with the client, many in one message.
  void send_acks();
  /// The connection has ended: others get the room.
  void stop();
  /// Memory that waiting acknowledgements take, in bytes.
  [[nodiscard]] std::size_t ack_bytes() const { return acks_.size() * sizeof(model::AttemptId); }

 private:
  /// Output of an attempt that has ended.
  struct Fetch {
    std::uint64_t size = 0;  ///< Of what its host has, as far as it has said.
    std::uint64_t here = 0;
    std::uint64_t received = 0;  ///< On this connection.
    bool goes_on = false;
    std::optional<model::OutputProgress> told;
  };

  /// Lets it come if there is room for all of it.
  void decide(model::AttemptId attempt, Fetch& fetch);
  void forget(model::AttemptId attempt);
  void look_again_soon();
  void look_again();
  void tell(model::AttemptId attempt, Fetch& fetch);
  void on_stored(model::AttemptId attempt, std::uint32_t stream, const Result<std::uint64_t>& end);
  void on_files_stored(model::AttemptId attempt, const Result<void>& stored);
  void add_loss(model::AttemptId attempt, const std::string& what);

  boost::asio::io_context& io_;
  HostContext& host_;
  agent::Client& client_;
  const std::function<void()> on_progress_;
  std::map<model::AttemptId, std::string> losses_;  ///< Output that cannot be had, and why.
  std::vector<model::AttemptId> acks_;              ///< Not yet queued with the client.
  std::map<model::AttemptId, Fetch> fetches_;
  std::set<model::AttemptId> paused_;  ///< They run, and send no more for want of room.
  boost::asio::steady_timer timer_;    ///< Runs while there is one of either.
  bool looks_again_ = false;
};

}  // namespace hostler::hosts
