#pragma once

#include <array>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>

#include "core/hosts/reach.h"

namespace hostler::hosts {

/// Who waits for a session at a jump host, in several queues. The first of a queue is the one that
/// was tried longest ago, then the one that came first.
///
/// Hosts thread only.
class JumpQueue {
 public:
  using Clock = std::chrono::steady_clock;
  /// One for the tries of hosts of each standing, in the order of Reach::Standing, and one for the
  /// connections to hosts that have answered.
  enum class Line : std::uint8_t { kAnswers, kNew, kSilent, kShared };

  explicit JumpQueue(boost::asio::io_context& io) : io_(io) {}
  JumpQueue(const JumpQueue&) = delete;
  JumpQueue& operator=(const JumpQueue&) = delete;

  /// The place of a coroutine that waits. It may be destroyed at any moment: then the next one is
  /// woken.
  class Turn {
   public:
    Turn(JumpQueue& owner, Line line, Clock::time_point tried);
    ~Turn();  // NOLINT(bugprone-exception-escape)
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

    [[nodiscard]] bool is_first() const { return waiting_.begin() == place_; }
    /// It has got its session.
    void served() { owner_.served_.at(line_) = ++owner_.last_; }
    /// Until it is woken, or until then. The first of a line also looks after a moment, since a
    /// server that answers late frees its session without a word.
    boost::asio::awaitable<void> wait(Clock::time_point until);

   private:
    friend JumpQueue;
    using Waiting = std::map<std::pair<Clock::time_point, std::uint64_t>, Turn*>;

    JumpQueue& owner_;
    const std::size_t line_;
    Waiting& waiting_;
    boost::asio::steady_timer timer_;
    Waiting::iterator place_;
  };

  /// Something has changed: the first of each line looks, that of the line first which was not
  /// served for the longest time.
  void wake();
  /// All look: nothing will ever be free again.
  void wake_all();

 private:
  boost::asio::io_context& io_;
  std::array<Turn::Waiting, 4> lines_;     ///< By Line.
  std::array<std::uint64_t, 4> served_{};  ///< When, as a number that rises. By Line.
  std::uint64_t last_ = 0;
};

}  // namespace hostler::hosts
