#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sdk/check/host/session.h"
#include "sdk/check/host/waiting.h"

namespace hostler::check {

/// How often a live test looks for a change.
inline constexpr Duration kLivePoll = std::chrono::seconds(1);

/// What the live tests do again and again, in an open set on the author's account.
struct Live {
  /// Machines of this kit that exist; nothing: the list has failed.
  std::optional<std::vector<model::ListedInstance>> ours();
  /// That of the key; nothing: the list does not show it, or has failed.
  std::optional<model::ListedInstance> find(const std::string& key);
  /// A create that counts as made even if its answer is an error.
  std::optional<model::ListedInstance> make(const model::CreateRequest& request);
  void destroy(const model::ListedInstance& machine);
  /// Until the condition is true; false: it took longer, or the run is being ended.
  template <class Condition>
  bool wait(Duration max, const Condition& condition) {
    return comes_true(context, max, kLivePoll, condition);
  }

  Context& context;
  Session& session;
};

/// A live test; for on_open_set.
template <void (*test)(Context&, Live&)>
void in_account(Context& c, Session& session) {
  Live live{c, session};
  test(c, live);
}

}  // namespace hostler::check
