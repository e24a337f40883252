#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "tests/unit/agent/client_pair.h"

/// When a connection is ready: the attempts and the cards of the host are here.
namespace hostler::agent {
namespace {

Cards reading(std::string text) {
  Cards out;
  out.tool = Cards::Tool::kCommand;
  out.text = std::move(text);
  return out;
}

TEST(ClientReadyTest, IsReadyOnceTheAttemptsAndTheCardsAreHere) {
  for (const bool cards_first : {false, true}) {
    Pair pair;
    ASSERT_TRUE(pair.client.receive(kGreeting));
    EXPECT_EQ(pair.client.hello(), nullptr);
    ASSERT_TRUE(pair.say(Hello{}));
    EXPECT_NE(pair.client.hello(), nullptr) << "settings are sent now";
    const auto list = [&] { ASSERT_TRUE(pair.say(Listing{})); };
    const auto tell = [&] { ASSERT_TRUE(pair.say(reading("{}"))); };
    cards_first ? tell() : list();
    EXPECT_FALSE(pair.client.next());
    ASSERT_TRUE(pair.say(Pong{1})) << "it is asked whether it lives";
    cards_first ? list() : tell();

    const auto ready = pair.next<Ready>();
    ASSERT_TRUE(ready);
    EXPECT_EQ(ready->cards, reading("{}"));
    EXPECT_EQ(pair.client.hello(), nullptr);
    ASSERT_TRUE(pair.say(reading("{ }")));
    EXPECT_EQ(pair.next<Cards>(), reading("{ }"));
  }
}

TEST(ClientReadyTest, IsReadyWithoutCardsThatAreGivenUp) {
  Pair pair;
  ASSERT_TRUE(pair.client.receive(kGreeting));
  pair.client.report_ready();
  ASSERT_TRUE(pair.say(Hello{}));
  pair.client.report_ready();
  EXPECT_FALSE(pair.client.next()) << "its attempts are not known";
  ASSERT_TRUE(pair.say(Listing{}));
  pair.client.report_ready();

  const auto ready = pair.next<Ready>();
  ASSERT_TRUE(ready);
  EXPECT_FALSE(ready->cards);
  ASSERT_TRUE(pair.say(Cards{}));
  EXPECT_TRUE(pair.next<Cards>()) << "later is better than never";
}

TEST(ClientReadyTest, NothingElseComesBeforeTheCards) {
  for (const FromAgent& message : {FromAgent(Exit{kId, {}}), FromAgent(HostBroken{}),
                                   FromAgent(Listing{}), FromAgent(Output{kId, kStdout, 0, "x"})}) {
    Pair pair;
    ASSERT_TRUE(pair.client.receive(kGreeting));
    ASSERT_TRUE(pair.say(Hello{}));
    ASSERT_TRUE(pair.say(Listing{}));
    const auto got = std::visit([&](const auto& one) { return pair.say(one); }, message);
    EXPECT_FALSE(got);
  }
}

TEST(ClientReadyTest, PassesOnTheScratchAndTheRamThatTheAgentReports) {
  Pair pair;
  ASSERT_TRUE(pair.client.receive(kGreeting));
  ASSERT_TRUE(pair.say(Hello{}));
  ASSERT_TRUE(pair.say(Scratch{40}));
  ASSERT_TRUE(pair.say(Ram{50}));
  ASSERT_TRUE(pair.say(Listing{}));
  ASSERT_TRUE(pair.say(Cards{}));

  const auto event = pair.client.next();

  ASSERT_TRUE(event);
  EXPECT_EQ(std::get<Ready>(*event).scratch, 40);
  EXPECT_EQ(std::get<Ready>(*event).ram, 50);
  EXPECT_EQ(error_of(pair.say(Ram{50})), "agent: a RAM after the listing");
  EXPECT_EQ(error_of(pair.say(Scratch{40})), "agent: a scratch after the listing");
}

}  // namespace
}  // namespace hostler::agent
