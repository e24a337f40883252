#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/agent/client.h"
#include "core/hosts/settings.h"
#include "core/ssh/channel.h"

namespace hostler::hosts {

/// One connection's talk with the agent: commands become frames, frames become events, output goes
/// to the store and is acknowledged once it is durable. Hosts thread only.
class Conversation : public std::enable_shared_from_this<Conversation> {
 public:
  Conversation(boost::asio::io_context& io, ssh::Channel channel, model::InstanceId instance,
               std::uint64_t connection, std::shared_ptr<const HostSettings> settings,
               std::shared_ptr<const HostPorts> ports, std::vector<model::BrokenCheck> checks);

  /// Until the connection ends; says why. `on_ready` is called once the agent has told all it
  /// knows.
  boost::asio::awaitable<Result<void>> run(std::function<void()> on_ready);
  void resume(const model::ResumeAttempts& command);
  void start(model::StartAttempt command);
  void kill(const model::KillAttempt& command);
  void ack(const model::AckAttempt& command);
  void set_checks(std::vector<model::BrokenCheck> checks);
  /// Nothing is posted afterwards.
  void stop();

 private:
  /// A start waits its turn: sequence numbers must reach the agent rising.
  struct Waiting {
    model::StartAttempt command;
    std::vector<std::string> blobs;  ///< sha256 of inputs not yet known to be there.
    bool asked = false;
    bool cancelled = false;
  };
  struct Upload {
    std::string sha256;
    std::uint64_t offset = 0;
    bool all_sent = false;  ///< BlobState answers.
  };

  static boost::asio::awaitable<void> rest(boost::asio::steady_timer& timer);
  boost::asio::awaitable<void> write_loop();
  boost::asio::awaitable<void> ping_loop();
  [[nodiscard]] std::size_t unread() const;
  void wake_writer();
  void configure();
  void take_events();
  void take(agent::Event&& event);
  void take(agent::Ready& ready);
  void take(const agent::BlobState& state);
  void post(model::HostEventBody body);

  // conversation_starts.cc
  void advance_starts();
  void refuse(const model::StartAttempt& command, const std::string& why);
  void send_start(const model::StartAttempt& command);
  void continue_upload();

  // conversation_output.cc
  void take(agent::Chunk& chunk);
  void take(const agent::Files& files);
  void take(const agent::Collected& collected);
  void stored(model::AttemptId attempt, std::uint32_t stream, const Result<std::uint64_t>& end);
  void listed(model::AttemptId attempt, const Result<void>& kept);
  void lose(model::AttemptId attempt, const std::string& what);

  boost::asio::io_context& io_;
  ssh::Channel channel_;
  const model::InstanceId instance_;
  const std::uint64_t connection_;
  const std::shared_ptr<const HostSettings> settings_;
  const std::shared_ptr<const HostPorts> ports_;
  std::vector<model::BrokenCheck> checks_;
  agent::Client client_;
  boost::asio::steady_timer reader_, writer_, pinger_;
  std::function<void()> on_ready_;
  std::string boot_id_;  ///< The agent's; what the loop sees has the state's id behind it.
  bool ready_ = false, ended_ = false;
  bool held_ = false;      ///< The agent's attempts were told to the loop, which has not answered.
  bool outdated_ = false;  ///< The agent is of another version and was told to quit.
  bool heard_ = false;     ///< Since the last ping.
  std::deque<Waiting> starts_;
  std::optional<Upload> upload_;
  std::map<model::AttemptId, std::string> lost_;  ///< What of its output cannot be had.
  std::vector<model::AttemptId> acks_;
  std::string problem_;
};

}  // namespace hostler::hosts
