#pragma once

#include <array>
#include <atomic>
#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>

#include "core/base/mutex.h"
#include "core/base/time.h"

/// Private to core/api: who works next on the server's threads.
namespace hostler::api {

/// Of a source (a user, an address) or of a connection.
struct Share {
  /// A source: when it was served last. A connection: until when others go before it. Guarded by
  /// the mutex of Turns.
  Duration until{};
  /// A source: bytes in memory, see memory.h.
  std::atomic<std::uint64_t> bodies{0}, answers{0};
};

/// Work that takes time waits for a turn, so that who asks for little waits for one turn, and not
/// for all who ask for much. Of those who wait, the source that was served longest ago is next, and
/// of its connections the one that waits longest; but one that lately had more than a fiftieth of a
/// thread lets others go before it, for two seconds at most. Each kind of work has places of its
/// own. Any thread.
class Turns : public std::enable_shared_from_this<Turns> {
 public:
  enum class Kind : std::uint8_t {
    kRequest,
    kLarge,   ///< A request with a long body, which may take seconds; the end of an upload.
    kStream,  ///< A piece of a stream: no client waits for its answer.
  };
  /// How many work at a time, by kind.
  static constexpr std::array<unsigned, 3> kPlaces{2, 2, 1};

  struct Asker {
    Kind kind;
    std::shared_ptr<Share> source, connection;
  };
  /// Whoever has one may work, until it is destroyed.
  class Turn {
   public:
    Turn(std::shared_ptr<Turns> turns, Asker asker);
    ~Turn();
    Turn(Turn&&) noexcept = default;
    Turn& operator=(Turn&&) = delete;

   private:
    std::shared_ptr<Turns> turns_;  ///< Null: moved from.
    Asker asker_;
    Duration began_;
  };
  using Start = std::function<void(std::shared_ptr<Turn>)>;
  using Clock = std::function<Duration()>;

  explicit Turns(Clock clock) : clock_(std::move(clock)) {}

  /// Calls `start` with a turn: at once, or on the thread that ends another.
  void ask(Asker asker, Start start);
  /// Forgets who waits, and from now on gives no turn.
  void stop();

 private:
  struct Waiting {
    Asker asker;
    Duration deadline;  ///< In the order of these, among those of one source.
    Start start;
  };
  void end(const Asker& asker, Duration began);

  const Clock clock_;
  Mutex mutex_;
  std::array<unsigned, 3> free_ HOSTLER_GUARDED_BY(mutex_) = kPlaces;
  std::list<Waiting> waiting_ HOSTLER_GUARDED_BY(mutex_);
  bool stopped_ HOSTLER_GUARDED_BY(mutex_) = false;
};

/// One connection, as Turns sees it.
struct Client {
  std::shared_ptr<Turns> turns;
  std::shared_ptr<Share> source;
  std::shared_ptr<Share> connection = std::make_shared<Share>();

  /// Waits for a turn.
  [[nodiscard]] boost::asio::awaitable<std::shared_ptr<Turns::Turn>> take_turn(
      Turns::Kind kind) const;
};

}  // namespace hostler::api
