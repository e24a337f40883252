#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/dispatch/create_secrets.h"
#include "core/dispatch/events.h"
#include "core/dispatch/queries.h"

/// The kernel: fleet, work and scheduler as one state machine, the same in the daemon and in the
/// simulation. Events go in, changes and effects come out; it calls nothing and reads no clock.
namespace hostler::dispatch {

struct State;
struct Handlers;

struct Options {
  std::vector<std::string> take_over_sets;  ///< Adopt these sets' instances of a foreign owner.
  std::uint64_t seed = 1;                   ///< Of the jitter of back-off.
};

/// Before restore(): checks that every instance of the journal has its set and its pool in the
/// policy; else the error names one. A machine that nobody looks after would cost on unseen.
[[nodiscard]] Result<void> check_homes(const model::Restored& restored,
                                       const model::SitePolicy& policy);

/// Threads: none of its own, not thread-safe; the loop owns it. Every call is of the order of what
/// it changes; of all hosts where a list, the opening of a set or a policy comes in, or a plan
/// switches hosts off. tick() with a plan due copies a snapshot (hosts + classes + offerings).
class Dispatcher {
 public:
  Dispatcher(model::SitePolicy policy, CreateSecretsFactory make_secrets, Options options);
  ~Dispatcher();
  Dispatcher(Dispatcher&&) noexcept;
  Dispatcher& operator=(Dispatcher&&) noexcept;

  /// Once, first: takes up the journal's state and opens the sets.
  Outbox restore(model::Restored restored, Now now);
  Outbox apply(Event event, Now now);
  /// Fires expired deadlines. Called at next_wake() or later, any number of times.
  Outbox tick(Now now);
  [[nodiscard]] Mono next_wake() const;

  /// Valid as long as the dispatcher.
  [[nodiscard]] Queries queries() const { return Queries(*state_); }

 private:
  void replace_policy(model::SitePolicy policy, Now now);
  void fire_deadlines(Now now);
  Outbox take_outbox();

  std::unique_ptr<const Options> options_;
  std::unique_ptr<State> state_;
  std::unique_ptr<Handlers> handlers_;
};

}  // namespace hostler::dispatch
