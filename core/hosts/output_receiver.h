#pragma once

#include <boost/asio/io_context.hpp>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/agent/client.h"
#include "core/hosts/host_context.h"

namespace hostler::hosts {

/// Output and output files of attempts on one conversation: hands them to the store, and
/// acknowledges them to the agent once they are durable. Output that cannot be kept is given up
/// with its reason, so that no attempt waits for it. Hosts thread only.
class OutputReceiver : public std::enable_shared_from_this<OutputReceiver> {
 public:
  /// `on_progress` is called on the hosts thread after the store has answered: the client may have
  /// events and bytes to send then. Not called once this object is gone.
  OutputReceiver(boost::asio::io_context& io, HostContext& host, agent::Client& client,
                 std::function<void()> on_progress);

  void on_chunk(agent::Chunk& chunk);
  void on_files(const agent::Files& files);
  void on_lost(const agent::OutputLost& lost) { add_loss(lost.attempt, lost.text); }
  void on_collected(const agent::Collected& collected);

  /// The attempt's end is durable: the agent may forget it. Sent by send_acks().
  void ack(model::AttemptId attempt);
  /// Queues the acknowledgements with the client, many in one message.
  void send_acks();
  /// Memory that waiting acknowledgements take, in bytes.
  [[nodiscard]] std::size_t ack_bytes() const { return acks_.size() * sizeof(model::AttemptId); }

 private:
  void on_stored(model::AttemptId attempt, std::uint32_t stream, const Result<std::uint64_t>& end);
  void on_files_stored(model::AttemptId attempt, const Result<void>& stored);
  void add_loss(model::AttemptId attempt, const std::string& what);

  boost::asio::io_context& io_;
  HostContext& host_;
  agent::Client& client_;
  const std::function<void()> on_progress_;
  std::map<model::AttemptId, std::string> losses_;  ///< Output that cannot be had, and why.
  std::vector<model::AttemptId> acks_;              ///< Not yet queued with the client.
};

}  // namespace hostler::hosts
