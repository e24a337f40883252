#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tests/unit/dispatch/story.h"

/// A story in which clouds take hosts back.
namespace hostler::dispatch {

using model::InterruptionAction;

class InterruptionTest : public testing::Test {
 protected:
  InterruptionTest() { story.begin(); }

  /// The watch under way; makes one if none was made yet.
  std::uint64_t watch() {
    for (const auto& call : story.all<WatchCall>()) number = call.number;
    return number;
  }
  /// The driver tells of it.
  void notice(InstanceId on, Duration in,
              InterruptionAction action = InterruptionAction::kTerminate) {
    tell({notice_of(story.record(on).provider_id, in, action)});
    story.pass(200ms);  // Plans are made.
  }
  model::Interruption notice_of(const std::string& id, Duration in,
                                InterruptionAction action = InterruptionAction::kTerminate) const {
    return {id, "spot reclaim", in == 0s ? Wall{} : story.now.wall + in, action};
  }
  void tell(std::vector<model::Interruption> notices) {
    story.say(NoticesSeen{"west", watch(), std::move(notices)});
  }
  model::InstanceView view(InstanceId id) {
    return *story.dispatcher.queries().instance(id, story.now);
  }
  /// A restartable job that may start once, its host, and the watch.
  std::pair<WorkId, InstanceId> running_the_last_attempt() {
    auto job = story.job(1, true);
    job.shape.attempts_max = 1;
    const auto id = story.submit({job}).at(0);
    const auto on = story.all<CreateCall>().back().instance;
    story.boot(on);
    story.host(on, model::AttemptStarted{{id, 1}, story.now.wall});
    (void)watch();
    return {id, on};
  }
  auto count(const std::string& event) const {
    const auto all = story.ledger();
    return std::ranges::count_if(all, [&](const auto& one) { return is_of(one, event); });
  }

  /// "h-1 interruption driver" is of "interruption".
  static bool is_of(const std::string& entry, const std::string& event) {
    return (entry + " ").find(" " + event + " ") != std::string::npos;
  }

  Story story;
  std::uint64_t number = 0;
};

}  // namespace hostler::dispatch
