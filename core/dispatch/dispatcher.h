#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/dispatch/create_secrets.h"
#include "core/dispatch/events.h"
#include "core/dispatch/options.h"
#include "core/dispatch/queries.h"

/// The kernel: fleet, work and scheduler as one state machine, the same in the daemon and in the
/// simulation. Events go in, changes and effects come out; it calls nothing and reads no clock.
namespace hostler::dispatch {

struct State;
struct Handlers;

/// Call it before restore(). Fails if an instance of the journal has a set or a pool that is not in
/// the policy; the error names one. Nothing would manage this machine, and it would still cost.
[[nodiscard]] Result<void> check_homes(const model::Restored& restored,
                                       const model::SitePolicy& policy);

/// Threads: none of its own, not thread-safe; the loop owns it. Time: O(changes) for most calls;
/// O(all hosts) for a list, the opening of a set, a new policy, and a plan that switches hosts off.
/// If a plan is due, tick() copies a snapshot: O(hosts + classes + offerings).
class Dispatcher {
 public:
  Dispatcher(model::SitePolicy policy, CreateSecretsFactory make_secrets, Options options);
  ~Dispatcher();
  Dispatcher(Dispatcher&&) noexcept;
  Dispatcher& operator=(Dispatcher&&) noexcept;

  /// Call it once, first: restores the state of the journal and opens the sets.
  Outbox restore(model::Restored restored, Now now);
  Outbox apply(Event event, Now now);
  /// Fires expired deadlines. Called at next_wake() or later, any number of times.
  Outbox tick(Now now);
  /// Before a clean stop: what is journalled only from time to time. No event follows.
  Outbox stop(Now now);
  [[nodiscard]] Mono next_wake() const;

  /// Valid as long as the dispatcher.
  [[nodiscard]] Queries queries() const { return Queries(*state_); }

 private:
  void replace_policy(model::SitePolicy policy, Now now);
  void choose_questions(Now now);
  void ask_again(const std::string& set, Now now);
  void fire_deadlines(Now now);
  void journal_uses(Now now);
  Outbox take_outbox();

  std::unique_ptr<const Options> options_;
  std::unique_ptr<State> state_;
  std::unique_ptr<Handlers> handlers_;
};

}  // namespace hostler::dispatch
