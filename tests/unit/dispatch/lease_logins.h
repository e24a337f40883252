#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "tests/unit/dispatch/leases.h"

/// Sites that lend hosts with a login.
namespace hostler::dispatch {

using testing::ElementsAre;

inline constexpr const char* kKey = "ssh-ed25519 AAAA";

inline model::SitePolicy login_site(model::Login login = model::Login::kUser) {
  auto out = lending_site();
  out.pools[0].leases->login = login;
  out.pools[0].leases->notice_before = 10min;
  out.pools[0].leases->grace = 30s;
  out.pools[0].rotate_keys = false;
  return out;
}

class LoginTest : public LeaseTest {
 protected:
  explicit LoginTest(model::SitePolicy site = login_site()) : LeaseTest(std::move(site)) {}

  SubmitLease with_key(Duration term = 2h) const {
    auto out = story.lease(term);
    out.lease.ssh_keys = {kKey};
    return out;
  }
  /// Its host has booted, and its account is being opened.
  std::pair<WorkId, InstanceId> opening(Duration term = 2h) {
    const WorkId id = story.borrow(with_key(term));
    const InstanceId on = story.all<CreateCall>().back().instance;
    story.boot(on);
    EXPECT_EQ(story.lease_state(id), "granting");
    return {id, on};
  }
  std::pair<WorkId, InstanceId> logged_in(Duration term = 2h) {
    const auto lent = opening(term);
    command_ends(lent.second);
    EXPECT_EQ(story.lease_state(lent.first), "granted");
    story.clear();
    return lent;
  }
  /// The first words of the commands that were sent: "open", "tell", "close".
  std::vector<std::string> sent() const {
    std::vector<std::string> out;
    for (const auto& run : story.commands<model::RunCommand>())
      out.push_back(run.command.purpose.substr(0, run.command.purpose.find(' ')));
    return out;
  }
  /// The last command that was sent has ended so.
  void command_ends(InstanceId on, int status = 0, const std::string& errors = "") {
    model::CommandEnded end;
    end.number = story.commands<model::RunCommand>().back().number;
    end.status = status;
    end.errors = errors;
    story.host(on, end);
  }
  void command_is_lost(InstanceId on) {
    model::CommandEnded end;
    end.number = story.commands<model::RunCommand>().back().number;
    end.error = "the time is over";
    end.outcome_unknown = true;
    story.host(on, end);
  }
  void connect_again(InstanceId on) {
    story.host(on, model::HostLost{"reset", 0s});
    story.ready(on);
  }
  model::LeaseRecord terms() const { return story.journalled<model::LeaseChanged>().back().record; }
  void expect_destroyed(WorkId id, InstanceId on, EndReason why) {
    EXPECT_EQ(story.lease_state(id), "ended");
    EXPECT_EQ(reason(id), why);
    EXPECT_EQ(story.state(on), InstanceState::kTerminating);
    EXPECT_EQ(story.record(on).reason_code, model::Reason::kLeaseEnded);
  }
};

}  // namespace hostler::dispatch
