#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "core/base/random.h"
#include "core/dispatch/events.h"
#include "core/simulation/timeline.h"
#include "tests/sim/push_turns.h"

namespace hostler::sim {

/// The network between outside schedulers and the daemon. Pushes are lost, late, doubled, and in
/// another order than they were sent; answers are lost and late.
class PushWire {
 public:
  using Hear = std::function<void(const Result<model::PushAnswer>&)>;
  struct Sent {
    std::string pool, principal;
    model::Push push;
  };
  /// A push that the daemon has, and has not answered.
  struct Flight {
    Sent sent;
    Hear hear;
    std::optional<bool> is_taken;  ///< As it should be; unset: nobody can say.
    PushTurns::Session session;    ///< Of its pool, once it is taken.
  };
  using Expect = std::function<std::optional<bool>(const Sent&)>;
  using Post = std::function<void(dispatch::Event)>;

  PushWire(std::uint64_t seed, simulation::Timeline& time, Expect expect, Post post)
      : random_(seed), time_(time), expect_(std::move(expect)), post_(std::move(post)) {}

  /// `only_if_refused`: it does not arrive where it would be taken.
  void send(Sent sent, Hear hear, bool only_if_refused = false);
  /// Nothing arrives for this time, and no answers.
  void cut(Duration time) { cut_until_ = time_.now() + time; }
  void end_faults() { has_faults_ = false; }
  void daemon_started() { flights_.clear(); }
  /// Null: no push of a scheduler has this ticket.
  [[nodiscard]] Flight* find(dispatch::Ticket ticket);
  /// The answer leaves.
  void answer(const dispatch::PushReply& reply);

 private:
  void arrive(const Sent& sent, const Hear& hear, bool only_if_refused);
  [[nodiscard]] Duration delay();
  [[nodiscard]] bool fault(double p) { return has_faults_ && random_.chance(p); }

  Random random_;
  simulation::Timeline& time_;
  const Expect expect_;
  const Post post_;
  std::map<dispatch::Ticket, Flight> flights_;
  dispatch::Ticket last_ticket_ = 4'000'000;  ///< Above those of all others.
  Mono cut_until_ = Mono::min();
  bool has_faults_ = true;
};

}  // namespace hostler::sim
