#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sdk/check/host/session.h"
#include "sdk/check/host/waiting.h"

namespace hostler::check {

/// What the tests of a cloud do again and again: machines are made, and looked for in lists.
struct Cloud {
  /// A new machine; fails the test if there is none.
  std::optional<model::ListedInstance> make();
  /// The machines of the list that exist and have this key.
  std::vector<model::ListedInstance> of_key(const std::string& key);
  /// Whether the condition comes true within the time that the cloud takes to show a change, and
  /// this time more.
  template <class Condition>
  bool comes_true(const Condition& condition, Duration more = std::chrono::seconds(10)) {
    constexpr Duration kStep = std::chrono::milliseconds(20);
    return check::comes_true(context, session.consistency() + more, kStep, condition);
  }

  Context& context;
  Session& session;
};

/// A test in a cloud; for on_open_set.
template <void (*test)(Context&, Cloud&)>
void in_cloud(Context& c, Session& session) {
  Cloud cloud{c, session};
  test(c, cloud);
}
/// A test of a machine that was just made in the cloud; for on_open_set.
template <void (*test)(Context&, Cloud&, const model::ListedInstance&)>
void on_machine(Context& c, Session& session) {
  Cloud cloud{c, session};
  if (const auto made = cloud.make()) test(c, cloud, *made);
}

}  // namespace hostler::check
