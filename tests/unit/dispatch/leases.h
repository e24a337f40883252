#pragma once

#include "tests/unit/dispatch/story.h"

/// Sites that lend hosts.
namespace hostler::dispatch {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

/// small_site() with a pool that lends hosts for at most 8 hours.
inline model::SitePolicy lending_site() {
  auto out = small_site();
  out.pools[0].leases = model::LeasePolicy{};
  out.pools[0].leases->max_term = 8h;
  out.pools[0].idle_timeout = 24h;
  return out;
}

class LeaseTest : public testing::Test {
 protected:
  explicit LeaseTest(model::SitePolicy site = lending_site())
      : policy(std::move(site)), story(policy) {}
  void SetUp() override { story.begin(); }

  /// A lease, and the host that was bought for it.
  std::pair<WorkId, InstanceId> granted(Duration term = 1h, const std::string& who = "user ann") {
    const WorkId id = story.borrow(story.lease(term), who);
    const InstanceId on = story.all<CreateCall>().back().instance;
    story.boot(on);
    EXPECT_EQ(story.lease_state(id), "granted");
    return {id, on};
  }
  /// A host without work.
  InstanceId idle_host() {
    const auto [job, on] = story.running();
    story.exited(on, job);
    EXPECT_EQ(story.state(on), InstanceState::kIdle);
    story.clear();
    return on;
  }
  Result<std::vector<WorkId>> give_back(WorkId id, bool used = true,
                                        const std::string& who = "user ann") {
    return story.ask(ReturnLease{0, who, false, id, used});
  }
  Result<std::vector<WorkId>> renew(WorkId id, Duration term, const std::string& who = "user ann") {
    return story.ask(RenewLease{0, who, false, id, term});
  }
  Result<std::vector<WorkId>> cancel(WorkId id, const std::string& who = "user ann") {
    return story.ask(CancelWork{0, who, false, id});
  }
  void reload() { story.say(PolicyChanged{policy}); }
  /// The cloud has destroyed the host, and its lists show it.
  void vanishes(InstanceId on) {
    story.host(on, model::HostLost{"reset", 0s});
    for (int i = 0; i < 4; ++i) {
      story.pass(2min);
      story.list({});
    }
    EXPECT_NE(story.state(on), InstanceState::kBusy);
  }
  std::optional<WorkId> lease_on(InstanceId on) {
    const auto view = story.dispatcher.queries().instance(on, story.now);
    return view ? view->lease : std::nullopt;
  }
  EndReason reason(WorkId id) { return story.record(id).reason; }

  model::SitePolicy policy;
  Story story;
};

}  // namespace hostler::dispatch
