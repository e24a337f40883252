#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <string>

#include "core/api/turns.h"
#include "core/base/mutex.h"

/// Private to core/api: which connections may be open at the same time.
namespace hostler::api {

/// Connections of one kind have a bound together, and each source has one. Any thread.
class Connections : public std::enable_shared_from_this<Connections> {
 public:
  struct Bounds {
    unsigned all = 2000;
    /// Of one address of TCP, of one token, of one user of the unix socket.
    unsigned of_source = 1000;
  };
  /// Admins have a bound of their own: others cannot keep them from the socket.
  enum class Kind : std::uint8_t { kTcp, kUser, kAdmin };

  /// A connection's place, from its accept until its end.
  class Place {
   public:
    ~Place();
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;

    /// The client has shown a valid token, of this name: its place is not given to another any
    /// more. False: too many have shown this token already, and nothing has changed.
    bool prove(const std::string& token);
    /// Calls `cut` once, on any thread, when the place has been given to another; at once if that
    /// has happened.
    void on_cut(std::function<void()> cut);
    /// That of its source.
    [[nodiscard]] const std::shared_ptr<Share>& share() const { return share_; }

   private:
    friend class Connections;
    Place(std::shared_ptr<Connections> all, Kind kind, std::string source,
          std::shared_ptr<Share> share)
        : all_(std::move(all)), kind_(kind), source_(std::move(source)), share_(std::move(share)) {}

    const std::shared_ptr<Connections> all_;
    const Kind kind_;
    const std::string source_;
    const std::shared_ptr<Share> share_;
    // Guarded by the mutex of `all_`.
    enum class State : std::uint8_t { kUnproven, kProven, kCut } state_ = State::kProven;
    std::string token_;  ///< Once proven.
    std::function<void()> cut_;
    std::list<Place*>::iterator at_;  ///< In unproven_, while the state is kUnproven.
  };

  explicit Connections(Bounds bounds) : bounds_(bounds) {}

  /// From now on; connections that are open stay.
  void set_bounds(Bounds bounds);

  /// Null: there are too many. On TCP, the oldest connection without a valid token gives way: one
  /// of the same source if that has too many, else any.
  std::shared_ptr<Place> take(Kind kind, const std::string& source);

 private:
  struct Source {
    unsigned open = 0;
    std::shared_ptr<Share> share = std::make_shared<Share>();
  };
  struct Counts {
    unsigned all = 0;
    std::map<std::string, Source> of_source;  ///< Those with open connections.
  };

  [[nodiscard]] Place* oldest_unproven(const std::string* source) const HOSTLER_REQUIRES(mutex_);
  std::function<void()> cut(Place& place) HOSTLER_REQUIRES(mutex_);
  void forget(const Place& place) HOSTLER_REQUIRES(mutex_);

  mutable Mutex mutex_;
  Bounds bounds_ HOSTLER_GUARDED_BY(mutex_);
  std::map<Kind, Counts> counts_ HOSTLER_GUARDED_BY(mutex_);
  std::map<std::string, unsigned> of_token_ HOSTLER_GUARDED_BY(mutex_);  ///< Those that are open.
  std::list<Place*> unproven_ HOSTLER_GUARDED_BY(mutex_);                ///< Of TCP, oldest first.
};

}  // namespace hostler::api
