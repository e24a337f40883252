#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "core/base/random.h"
#include "core/dispatch/events.h"
#include "tests/sim/day.h"

namespace hostler::sim {

/// A driver that dies in calls by chance, and in each create of one type. Checks that a call in
/// which it died twice in a row is not made again before its time. Its choices are apart from all
/// others, so that days without it are as they were.
class CrashingDriver {
 public:
  using Complain = std::function<void(const std::string&)>;

  CrashingDriver(std::uint64_t seed, Complain complain);
  /// The seed has a day with such a driver.
  static bool is_of(std::uint64_t seed) { return seed % 6 == 2; }

  [[nodiscard]] const model::DriverFile& file() const { return file_; }

  /// The call that the effect makes: its function, and what it is about. Empty: it makes none that
  /// is guarded.
  std::string call_of(const dispatch::Effect& effect);
  /// The daemon has decided on these calls. A death of which it hears before they leave, which is
  /// when they are durable, does not call them back.
  void check(const dispatch::Outbox& outbox, Now now);
  /// The call is made. True: the driver dies in it.
  bool dies_in(const std::string& call, bool faults);
  /// The answer to the call that the effect made, as the daemon gets it from the driver's process.
  static dispatch::Event report(const dispatch::Effect& effect, model::CloudError error, Mono sent);
  [[nodiscard]] model::CloudError error(const std::string& call) const;
  Duration delay();
  /// The cloud had done what the call asked for.
  bool was_done() { return random_.chance(0.5); }

  /// The daemon has the report.
  void died_in(const std::string& call, Now now);
  /// The daemon gets an answer: a success ends what was counted of its call.
  void answered(const dispatch::Event& event);
  /// What the daemon knows is durable.
  void committed();
  /// A daemon starts, which knows what was durable, and goes by the wall clock.
  void daemon_started(Now now);
  /// An admin lets every call be made again, or the rows of deaths are lost.
  void forgive() { deaths_.clear(); }

 private:
  /// Deaths in one call, in a row.
  struct Deaths {
    std::uint32_t known = 0, durable = 0;  ///< To the daemon that lives; to the next one.
    Mono until{};                          ///< The call is not made before.
    Wall until_wall, durable_until;
  };

  const model::DriverFile file_{"sim", "1", "file"};
  Complain complain_;
  Random random_;
  std::string bad_type_;
  std::map<std::string, Deaths> deaths_;
  std::map<model::InstanceId, std::string> creates_;  ///< The call of each instance's create.
};

}  // namespace hostler::sim
