#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/scheduler/plan.h"
#include "core/scheduler/world.h"

/// Finds the hosts that a gang would get.
namespace hostler::scheduler {

/// How a gang gets one of its hosts; the soonest first.
enum class From : std::uint8_t {
  kReady,
  kComing,
  kOff,
  kNew,
  kLater,   ///< A new one, once a ceiling has room: in the next minute, or when a host has ended.
  kBusy,    ///< It still has other work, and is the gang's after that.
  kTheirs,  ///< It comes, or is reserved, for other work, which gets it before the gang.
};
struct Seat {
  From from{};
  std::uint32_t index = 0;  ///< The host's; the offering's, if the host is to be created.

  [[nodiscard]] bool is_host() const { return from != From::kNew && from != From::kLater; }
};

/// The turn of `a` comes before that of `b`: by priority, then by use.
[[nodiscard]] bool is_before(const Demand& a, const Demand& b);

/// Finds the hosts of one gang.
class GangSeats {
 public:
  /// The arguments outlive it. The plan has the reservations for work that is no gang.
  GangSeats(World& world, const Plan& plan, const Demand& gang);

  /// True: the gang can have all its hosts, and these are taken from the world's budget and prices.
  /// For a gang of one zone it chooses the zone where the last host is there soonest.
  bool find();
  [[nodiscard]] const std::vector<Seat>& seats() const { return seats_; }
  /// How many hosts were found in the zone with the most.
  [[nodiscard]] std::size_t most() const { return most_; }
  /// How many hosts would have to be created there, if there were room for them.
  [[nodiscard]] std::size_t missing() const { return missing_; }

 private:
  /// Zones of several sets may have equal names, or none.
  using Zone = std::optional<std::pair<std::uint32_t, std::string>>;

  [[nodiscard]] std::set<Zone> zones() const;
  bool find_in(const Zone& zone);
  /// The least is the best: how and when the last host is to be had, and how many of the hosts the
  /// gang does not hold yet.
  [[nodiscard]] std::tuple<From, Mono, std::size_t> rank() const;
  [[nodiscard]] bool is_full() const { return seats_.size() == gang_.view->shape.gang.count; }
  [[nodiscard]] bool is_in(const Offering& offering, const Zone& zone) const {
    return !zone || (offering.set == zone->first && offering.zone == zone->second);
  }
  [[nodiscard]] bool is_in(const HostView& host, const Zone& zone) const;
  [[nodiscard]] bool is_free(const HostView& host) const;
  [[nodiscard]] bool is_given_up(const HostView& host) const;
  [[nodiscard]] std::optional<From> from(std::uint32_t host) const;
  void add_hosts(const Zone& zone, bool later);
  void add_switched_off(const Zone& zone);
  void add_new(const Zone& zone);
  template <class Where>
  bool take(From how, std::uint32_t index, const Where& where);

  World& world_;
  const Demand& gang_;
  const Need& need_;
  std::vector<bool> reserved_;  ///< By host: it is reserved for work whose turn comes first.
  std::vector<Seat> seats_;
  std::size_t most_ = 0, missing_ = 0;
};

}  // namespace hostler::scheduler
