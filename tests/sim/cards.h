#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/base/random.h"
#include "tests/sim/cloud.h"
#include "tests/sim/offerings.h"

namespace hostler::sim {

/// What has happened to cards on a day.
struct CardTally {
  std::uint64_t appeared = 0, vanished = 0, failed = 0, healed = 0, unread = 0;
  std::uint64_t fewer = 0;    ///< Machines with fewer cards than their type.
  std::uint64_t silent = 0;   ///< Machines that tell nothing of their cards.
  std::uint64_t claimed = 0;  ///< Lies: another's attempt has a card of this machine.
  std::uint64_t given = 0;    ///< Starts with cards.
  std::uint64_t kept = 0;     ///< Attempts that were reported again with their cards.

  CardTally& operator+=(const CardTally& o);
};

/// On one day in four machines have cards, which fail, vanish, appear and cannot be read, and some
/// jobs need them. No other choice of the day depends on this. Agents refuse no start here: that
/// two attempts have one card is a complaint.
class Cards {
 public:
  using Complain = Disk::Complain;
  Cards(std::uint64_t seed, Complain complain)
      : is_day_(are_of(seed)), random_(seed ^ 0xca4d5), complain_(std::move(complain)) {}

  static bool are_of(std::uint64_t seed) { return seed % 4 == 0 && !Offerings::is_of(seed); }
  /// Gives a type of the menu its cards.
  static void add_to(model::InstanceType& type);
  /// Some jobs need cards.
  static void vary(model::WorkShape& shape, std::size_t number);

  [[nodiscard]] bool is_day() const { return is_day_; }
  /// What the tool on the machine says now.
  model::CardReport read(const Machine& machine);
  /// One card of the machine fails, heals, vanishes or appears, or the next readings fail.
  void misfortune(const Machine& machine);
  [[nodiscard]] std::uint64_t choose(std::uint64_t n) { return random_.below(n); }
  /// For a liar: a card of its own.
  std::vector<std::string> claim(const Machine& machine);
  void reported(const Run& run) { tally_.kept += run.cards.empty() ? 0 : 1; }
  /// The daemon has got this report of the machine.
  void heard(const Machine& machine, const model::CardReport& report, Mono now);
  /// The start leaves the daemon, by this row.
  void check_leaving(const Machine& machine, const model::StartAttempt& start,
                     const model::AttemptChanged* row, const model::WorkItem* job, Mono now);
  /// The attempt starts beside those that run there.
  void check_start(const Machine& machine, const model::StartAttempt& start) const;
  [[nodiscard]] const CardTally& tally() const { return tally_; }

 private:
  struct Having {
    std::vector<model::Card> cards;
    std::set<std::string> gone;  ///< Cards that are not listed now.
    bool silent = false;
    std::uint64_t fails = 0;                   ///< So many readings to come.
    std::map<std::string, Mono> bad_since;     ///< As the daemon knows it.
    std::map<std::string, std::string> kinds;  ///< All that the daemon has heard of.
    bool told = false;
    Mono unread_since = Mono::max();  ///< The last reading failed, as the daemon knows it.
  };
  Having& of(const Machine& machine);

  bool is_day_;
  Random random_;
  Complain complain_;
  CardTally tally_;
  std::map<std::string, Having> machines_;
};

}  // namespace hostler::sim
