#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "core/agent/client.h"
#include "core/hosts/card_view.h"
#include "core/hosts/host_context.h"
#include "core/hosts/output_receiver.h"
#include "core/hosts/start_queue.h"
#include "core/ssh/channel.h"

namespace hostler::hosts {

/// The exchange of messages with the agent over one connection: reads, writes and pings. Commands
/// become messages and messages become events; starts wait in a StartQueue, output goes to an
/// OutputReceiver. Hosts thread only; its coroutines keep it alive.
class Conversation : public std::enable_shared_from_this<Conversation> {
 public:
  /// `connection` is the number that HostReady reports and that resume and start must name.
  Conversation(boost::asio::io_context& io, ssh::Channel channel, std::shared_ptr<HostContext> host,
               std::uint64_t connection);

  /// Ends with the connection and returns why. Calls `on_ready` once the agent has listed all its
  /// attempts, and told of its cards or not done so in time.
  boost::asio::awaitable<Result<void>> run(std::function<void()> on_ready);
  void resume(const model::ResumeAttempts& command);
  void start(model::StartAttempt command);
  void kill(const model::KillAttempt& command);
  void interrupt(const model::InterruptAttempt& command);
  void ack(const model::AckAttempt& command);
  /// The pool has changed: sends its checks, and how cards are read, to the agent.
  void update_settings();
  /// Ends run() soon. The agent's messages are ignored from now on.
  void stop();

 private:
  enum class Phase : std::uint8_t {
    kGreeting,
    kListing,  ///< It has greeted; its attempts and its cards are to come.
    kHeld,     ///< They were reported, and the loop has not yet said which to resume.
    kOpen,
    kOutdated,  ///< The agent is of another version and was told to quit.
    kEnded,
  };

  /// One step of run(): waits for bytes and handles them. An error, or kOutdated, ends run().
  boost::asio::awaitable<Result<void>> read_once(std::span<char> buffer);
  /// Writes the client's last bytes, which tell an agent why it is sent away.
  boost::asio::awaitable<void> say_goodbye(std::span<char> buffer);
  boost::asio::awaitable<void> write_loop();
  boost::asio::awaitable<void> ping_loop();
  /// Ends early at the greeting and at the end.
  boost::asio::awaitable<void> ping_pause(Duration time);
  /// Waits for the first Cards for so long, and then no longer.
  boost::asio::awaitable<void> await_cards();
  /// Runs a coroutine beside run(); this conversation lives until it ends.
  void spawn(boost::asio::awaitable<void> coroutine);
  /// run() ends soon with this problem.
  void end_with(std::string problem);
  [[nodiscard]] bool has_greeted() const { return phase_ == Phase::kListing || is_connected(); }
  [[nodiscard]] bool is_connected() const {
    return phase_ == Phase::kHeld || phase_ == Phase::kOpen;
  }
  [[nodiscard]] bool has_ended() const { return phase_ == Phase::kEnded; }
  void wake_writer() { writer_wake_.cancel(); }
  void send_settings();
  void send_guard();
  void handle_events();
  void on_event(agent::Event&& event);
  /// Sends the pool's settings, or an agent of another program away.
  void greet(const agent::Hello& hello);
  void on_ready(agent::Ready& ready);
  void on_cards(const agent::Cards& cards);
  /// True if the report is another one now.
  bool learn(const agent::Cards& cards);

  const std::shared_ptr<HostContext> host_;
  ssh::Channel channel_;
  const std::uint64_t connection_;
  agent::Client client_;
  CardView cards_;
  StartQueue starts_;
  const std::shared_ptr<OutputReceiver> output_;
  boost::asio::steady_timer reader_wake_, writer_wake_, ping_timer_, cards_timer_;
  std::function<void()> on_ready_;
  Phase phase_ = Phase::kGreeting;
  struct {
    bool received = false;   ///< Bytes, since the last ping.
    std::size_t before = 0;  ///< Bytes to be written before the last ping.
  } ping_;
  std::string problem_;  ///< Of the writer or of the ping; ends run().
};

}  // namespace hostler::hosts
