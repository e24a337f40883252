#include <gmock/gmock.h>

#include "core/agent/client.h"
#include "tests/integration/hosts/enemy.h"
#include "tests/integration/hosts/fake_daemon.h"

/// What hosts tell of their cards, and the cards that starts get.
namespace hostler::test {
namespace {

using testing::HasSubstr;

constexpr const char* kLook =
    "printf '%s|%s|%s' $CUDA_VISIBLE_DEVICES $ROCR_VISIBLE_DEVICES "
    "\"${HOSTLER_GPUS-unset}\"";

std::string cards_command(const std::string& uuids) {
  return "for one in " + uuids + R"(; do list="$list${list:+, }{\"uuid\": \"$one\"}"; done; )" +
         R"(echo "{\"cards\": [$list]}")";
}

template <class... Messages>
std::string said(const Messages&... messages) {
  return std::string(agent::kGreeting) + frames(messages...);
}

TEST(HostCardsTest, AHostIsReadyWithItsCardsAndAStartGetsThem) {
  const BootedHost host;
  FakeDaemon daemon(host);
  daemon.pool.gpu_command = cards_command("GPU-b GPU-a");
  daemon.open();
  const auto ready = daemon.connect(host.target());
  EXPECT_EQ(ready.cards.source, "command");
  ASSERT_EQ(ready.cards.cards.size(), 2U) << ready.cards.problem;
  EXPECT_EQ(ready.cards.cards[0].uuid, "GPU-a");

  daemon.cards = {"GPU-a", "GPU-b"};
  (void)daemon.start(kLook);
  EXPECT_EQ(daemon.await<model::AttemptExited>().end.stdout_inline,
            "GPU-a,GPU-b|GPU-a,GPU-b|GPU-a,GPU-b");
  daemon.cards = {};
  (void)daemon.start(kLook);
  EXPECT_EQ(daemon.await<model::AttemptExited>().end.stdout_inline, "||") << "it sees none";
}

TEST(HostCardsTest, AHostWithoutAToolHasNoReportAndItsJobsNoVariables) {
  const BootedHost host;
  FakeDaemon daemon(host);
  daemon.pool.gpu_command = "";
  daemon.open();
  const auto ready = daemon.connect(host.target());
  if (!ready.cards.source.empty()) GTEST_SKIP() << "this machine has " << ready.cards.source;
  (void)daemon.start(kLook);
  EXPECT_EQ(daemon.await<model::AttemptExited>().end.stdout_inline, "unset||");
}

TEST(HostCardsTest, ACardThatHasVanishedIsRefusedAndWasNotTried) {
  const BootedHost host;
  FakeDaemon daemon(host);
  daemon.pool.gpu_command = cards_command("GPU-a GPU-b");
  daemon.open();
  daemon.connect(host.target());
  daemon.pool.gpu_command = cards_command("GPU-a");
  daemon.change_pool(daemon.pool);
  EXPECT_EQ(daemon.await<model::HostCards>().report.cards.size(), 1U);

  daemon.cards = {"GPU-b"};
  (void)daemon.start("true");
  const auto refused = daemon.await<model::AttemptRefused>();
  EXPECT_EQ(refused.text, "card GPU-b is not there any more");
  EXPECT_FALSE(refused.tried);
}

TEST(HostCardsTest, AnAgentThatNeverTellsHoldsUpItsHostForATimeOnly) {
  const BootedHost host;
  FakeDaemon daemon(host);
  daemon.settings.patience.cards = std::chrono::milliseconds(100);
  install(daemon, enemy(said(agent::Hello{}, agent::Listing{}), "exec cat > /dev/null"));
  daemon.open();
  const auto ready = daemon.connect(host.target());
  EXPECT_EQ(ready.cards.source, "agent");
  EXPECT_THAT(ready.cards.problem, HasSubstr("the agent has not told of its cards in 100"));
}

TEST(HostCardsTest, AnAgentThatListsNothingIsHungUpOn) {
  const BootedHost host;
  FakeDaemon daemon(host);
  daemon.settings.patience.cards = std::chrono::milliseconds(100);
  install(daemon, enemy(said(agent::Hello{}, agent::Cards{}), "exec cat > /dev/null"));
  daemon.open();
  daemon.send(model::ConnectHost{host.target()});
  EXPECT_THAT(daemon.await<model::HostLost>().text, HasSubstr("has not listed its attempts for"));
}

// The ledger must not grow with each of them.
TEST(HostCardsTest, CardsThatChangeAllTheTimeAreToldAFewTimesOnly) {
  const BootedHost host;
  FakeDaemon daemon(host);
  std::string changes;
  for (int i = 0; i < 1000; ++i) {
    agent::Cards cards;
    cards.tool = agent::Cards::Tool::kCommand;
    cards.text = "{\"cards\": [{\"uuid\": \"" + std::to_string(i) + "\"}]}";
    changes += frames(cards);
  }
  install(daemon, enemy(said(agent::Hello{}, agent::Listing{}, agent::Cards{}) + changes,
                        "exec cat > /dev/null"));
  daemon.open();
  daemon.connect(host.target());
  const auto broken = daemon.await<model::HostBroken>();
  EXPECT_EQ(broken.check, agent::kProtocol);
  EXPECT_THAT(broken.text, HasSubstr("more often than once a minute"));
  daemon.await<model::HostLost>();
}

}  // namespace
}  // namespace hostler::test
