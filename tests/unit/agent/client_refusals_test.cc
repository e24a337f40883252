#include <gtest/gtest.h>

#include "tests/unit/agent/client_pair.h"

/// Attempts that a host could not start.
namespace hostler::agent {
namespace {

Exit not_started(std::int32_t exit_code = kNeverStarted) {
  Exit exit;
  exit.attempt = kId;
  exit.end.reason = model::EndReason::kStartFailed;
  exit.end.exit_code = exit_code;
  exit.end.text = "no space";
  return exit;
}

TEST(AgentRefusalTest, WhatTheHostCouldNotStartIsRefusedAndAcknowledged) {
  Pair pair;
  pair.greet();
  pair.start();
  ASSERT_TRUE(pair.say(Started{kId, 1}));
  ASSERT_TRUE(pair.next<Started>());
  ASSERT_TRUE(pair.say(not_started()));

  const auto refused = pair.next<Refused>();
  ASSERT_TRUE(refused);
  EXPECT_EQ(*refused, (Refused{kId, Refused::Why::kInternal, "no space"}));
  EXPECT_FALSE(pair.client.next());
  ASSERT_TRUE(pair.client.ack({kId}));
  EXPECT_EQ(pair.heard<Ack>(), (Ack{{kId}}));
}

TEST(AgentRefusalTest, AnAgentThatDoesNotTellTheCauseBlamesTheJob) {
  Pair pair;
  pair.greet();
  pair.start();
  ASSERT_TRUE(pair.say(not_started(0)));
  EXPECT_TRUE(pair.next<Exit>());
}

TEST(AgentRefusalTest, WhatHasPrintedHasStarted) {
  Pair pair;
  pair.greet();
  pair.start();
  ASSERT_TRUE(pair.say(Output{kId, kStdout, 0, "ab"}));
  EXPECT_EQ(error_of(pair.say(not_started())),
            "agent: says that j-1.1 never started, after output");
  EXPECT_EQ(error_of(pair.say(Refused{kId, Refused::Why::kInternal, "x"})),
            "agent: says that j-1.1 never started, after output");
  Exit exit = not_started();
  exit.end.stdout_bytes = 1;
  exit.end.stdout_inline = "x";
  EXPECT_EQ(error_of(pair.say(exit)), "agent: exit of j-1.1: it never started and has output");
}

}  // namespace
}  // namespace hostler::agent
