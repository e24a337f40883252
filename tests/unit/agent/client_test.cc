#include <gtest/gtest.h>

#include <string>

#include "tests/unit/agent/client_pair.h"

namespace hostler::agent {
namespace {

Exit exit_with(std::uint64_t out, std::uint64_t err, bool files = false) {
  Exit exit;
  exit.attempt = kId;
  exit.end.stdout_bytes = out;
  exit.end.stderr_bytes = err;
  exit.end.output_is_inline = false;
  exit.end.has_output_files = files;
  return exit;
}

TEST(AgentClientTest, SkipsWhatALoginShellPrintsBeforeTheGreeting) {
  Pair pair;
  std::string hello = "Welcome!\r\nlast login: never" + std::string(kGreeting);
  ASSERT_TRUE(encode(Hello{}, hello));
  ASSERT_TRUE(encode(Listing{}, hello));
  ASSERT_TRUE(encode(Cards{}, hello));

  for (const char c : hello) ASSERT_TRUE(pair.client.receive({&c, 1}));

  EXPECT_TRUE(pair.next<Ready>());
}

TEST(AgentClientTest, GivesUpOnAShellThatOnlyTalks) {
  Pair pair;
  const auto got = pair.client.receive("blah\n" + std::string(70'000, 'x'));

  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, Errc::kMisbehaving);
  EXPECT_NE(got.error().message.find("blah"), std::string::npos);
}

TEST(AgentClientTest, PutsTheListingTogether) {
  Pair pair;
  ASSERT_TRUE(pair.client.receive(kGreeting));
  Hello hello;
  hello.boot_id = "b";
  ASSERT_TRUE(pair.say(hello));
  ASSERT_TRUE(pair.say(Listing{{{kId, Phase::kRunning}}, false}));
  EXPECT_FALSE(pair.client.next());
  ASSERT_TRUE(pair.say(Listing{{{{model::WorkId{2}, 1}, Phase::kEnded}}, true}));
  ASSERT_TRUE(pair.say(Cards{}));

  const auto ready = pair.next<Ready>();
  ASSERT_TRUE(ready);
  EXPECT_EQ(ready->hello.boot_id, "b");
  EXPECT_EQ(ready->attempts.size(), 2u);
}

// Bug: a host could list a hundred thousand attempts, each a record in the ledger and a kill.
TEST(AgentClientTest, AListingIsNoLongerThanAnAgentsMayBe) {
  Pair pair;
  ASSERT_TRUE(pair.client.receive(kGreeting));
  ASSERT_TRUE(pair.say(Hello{}));
  const Listing full{std::vector<Known>(kListingMax, Known{kId, Phase::kRunning}), false};
  for (std::size_t i = 0; i < kAttemptsMax / kListingMax; ++i) ASSERT_TRUE(pair.say(full));

  EXPECT_EQ(error_of(pair.say(full)), "agent: lists too many attempts");
}

TEST(AgentClientTest, RefusesAnotherVersionAndMessagesOutOfPlace) {
  Hello other;
  other.version = 2;
  Pair pair;
  ASSERT_TRUE(pair.client.receive(kGreeting));
  EXPECT_EQ(error_of(pair.say(other)), "agent: uses protocol version 2, not 6");
  Pair early;
  ASSERT_TRUE(early.client.receive(kGreeting));
  EXPECT_EQ(error_of(early.say(Pong{1})), "agent: the first message is not hello");
  Pair twice;
  twice.greet();
  EXPECT_EQ(error_of(twice.say(Hello{})), "agent: a second hello");
  Pair hung_up;
  hung_up.greet();
  EXPECT_EQ(error_of(hung_up.say(Problem{"x"})), "agent: closed the connection: x");
}

TEST(AgentClientTest, InlineOutputIsCollectedAtOnce) {
  Pair pair;
  pair.greet();
  pair.start();
  Exit exit = exit_with(3, 0);
  exit.end.output_is_inline = true;
  exit.end.stdout_inline = "out";

  ASSERT_TRUE(pair.say(exit));

  EXPECT_TRUE(pair.next<Exit>());
  EXPECT_TRUE(pair.next<Collected>());
}

TEST(AgentClientTest, OutputIsNeverBothInlineAndInChunks) {
  Pair pair;
  pair.greet();
  pair.start();
  ASSERT_TRUE(pair.say(Output{kId, kStdout, 0, "ab"}));
  Exit exit = exit_with(4, 1);
  exit.end.output_is_inline = true;
  exit.end.stdout_inline = "abcd";
  exit.end.stderr_inline = "e";
  ASSERT_TRUE(pair.say(exit));

  EXPECT_EQ(pair.next<Chunk>()->data, "ab");
  const auto got = pair.next<Exit>();
  ASSERT_TRUE(got);
  EXPECT_FALSE(got->end.output_is_inline);
  EXPECT_EQ(got->end.stdout_inline, "");
  EXPECT_EQ(pair.next<Chunk>()->data, "cd");
  EXPECT_EQ(pair.next<Chunk>()->data, "e");
  pair.client.durable(kId, kStdout, 4);
  EXPECT_FALSE(pair.client.next());
  pair.client.durable(kId, kStderr, 1);
  EXPECT_TRUE(pair.next<Collected>());
}

TEST(AgentClientTest, CreditMovesOnWithWhatIsDurable) {
  Pair pair(1000);
  pair.greet();
  pair.start();
  ASSERT_TRUE(pair.say(Output{kId, kStdout, 0, std::string(1000, 'x')}));

  pair.client.durable(kId, kStdout, 400);
  EXPECT_FALSE(pair.heard<Credit>());
  pair.client.durable(kId, kStdout, 600);
  const auto credit = pair.heard<Credit>();

  ASSERT_TRUE(credit);
  EXPECT_EQ(*credit, (Credit{kId, kStdout, 600, 1600}));
  ASSERT_TRUE(pair.say(Output{kId, kStdout, 1000, std::string(600, 'x')}));
  EXPECT_EQ(error_of(pair.say(Output{kId, kStdout, 1600, "x"})),
            "agent: output of j-1.1 exceeds its credit");
}

TEST(AgentClientTest, AGapIsToldAndRenewsTheCredit) {
  Pair pair(1000);
  pair.greet();
  pair.start();
  ASSERT_TRUE(pair.say(exit_with(1'000'000, 0)));
  ASSERT_TRUE(pair.next<Exit>());
  ASSERT_TRUE(pair.say(Output{kId, kStdout, 0, std::string(500, 'x')}));
  ASSERT_TRUE(pair.next<Chunk>());

  ASSERT_TRUE(pair.say(Output{kId, kStdout, 999'900, std::string(100, 'y')}));

  const auto chunk = pair.next<Chunk>();
  ASSERT_TRUE(chunk);
  EXPECT_EQ(chunk->gap, 999'400u);
  const auto credit = pair.heard<Credit>();
  ASSERT_TRUE(credit);
  EXPECT_GE(credit->until, 1'000'000u);
  pair.client.durable(kId, kStdout, 1'000'000);
  EXPECT_TRUE(pair.next<Collected>());
}

// Bug: where no end of a stream is kept, what fell out was waited for.
TEST(AgentClientTest, AGapUpToTheEndIsTheEnd) {
  Pair pair(1000);
  pair.greet();
  pair.start();
  ASSERT_TRUE(pair.say(Output{kId, kStdout, 0, std::string(500, 'x')}));
  ASSERT_TRUE(pair.next<Chunk>());
  ASSERT_TRUE(pair.say(exit_with(1'000'000, 0)));
  ASSERT_TRUE(pair.next<Exit>());

  ASSERT_TRUE(pair.say(Output{kId, kStdout, 1'000'000, ""}));
  const auto chunk = pair.next<Chunk>();
  ASSERT_TRUE(chunk);
  EXPECT_EQ(chunk->gap, 999'500u);
  EXPECT_FALSE(pair.client.next());
  pair.client.durable(kId, kStdout, 500);
  EXPECT_TRUE(pair.next<Collected>());
}

// Bug: a gap before every byte had a growing file written and synced for each, on the one thread
// that keeps everybody's output.
TEST(AgentClientTest, OneGapIsAllThatAStreamCanHave) {
  const std::string refused = "agent: output of j-1.1 has a gap where bytes were kept";
  Pair pair;
  pair.greet();
  pair.start();
  EXPECT_EQ(error_of(pair.say(Output{kId, kStdout, 0, ""})),
            "agent: output of j-1.1 has an empty piece");
  EXPECT_EQ(error_of(pair.say(Output{kId, kStdout, 1, "x"})), refused) << "it still runs";
  ASSERT_TRUE(pair.say(exit_with(1000, 0, true)));
  ASSERT_TRUE(pair.say(Output{kId, kStdout, 1, "x"}));
  EXPECT_EQ(error_of(pair.say(Output{kId, kStdout, 3, "x"})), refused);
  ASSERT_TRUE(pair.say(Files{kId, {{"a", 5, 0644, ""}}, true}));
  EXPECT_EQ(error_of(pair.say(Output{kId, kFirstFile, 1, "x"})), refused);
}

TEST(AgentClientTest, FilesAreFetchedOneAfterTheOther) {
  Pair pair(1000);
  pair.greet();
  pair.start();
  ASSERT_TRUE(pair.say(exit_with(0, 0, true)));
  ASSERT_TRUE(pair.next<Exit>());
  ASSERT_TRUE(pair.heard<ListFiles>());
  ASSERT_TRUE(pair.say(Files{kId, {{"a", 5, 0644, ""}, {"l", 0, 0, "link"}}, false}));
  EXPECT_FALSE(pair.heard<Credit>());
  ASSERT_TRUE(pair.say(Files{kId, {{"b", 5, 0644, ""}}, true}));
  // Bug: each piece of a list was an event, and only the first was kept.
  const auto files = pair.next<Files>();
  ASSERT_TRUE(files);
  EXPECT_EQ(files->files.size(), 3U);
  EXPECT_FALSE(pair.heard<Credit>());
  pair.client.files_durable(kId);

  EXPECT_EQ(pair.heard<Credit>()->stream, kFirstFile);
  EXPECT_FALSE(pair.heard<Credit>());
  ASSERT_TRUE(pair.say(Output{kId, kFirstFile, 0, "12345"}));
  ASSERT_TRUE(pair.next<Chunk>());
  pair.client.durable(kId, kFirstFile, 5);
  EXPECT_EQ(pair.heard<Credit>()->stream, kFirstFile + 2);
  ASSERT_TRUE(pair.say(OutputLost{kId, kFirstFile + 2, "gone"}));

  ASSERT_TRUE(pair.next<OutputLost>());
  EXPECT_TRUE(pair.next<Collected>());
}

TEST(AgentClientTest, AnAttemptThatIsHeldGetsNoMoreCreditUntilItGoesOn) {
  Pair pair;
  pair.greet();
  pair.start();
  ASSERT_TRUE(pair.client.hold(kId, true));
  ASSERT_TRUE(pair.say(Output{kId, kStdout, 0, std::string(600, 'x')}));
  pair.client.durable(kId, kStdout, 600);
  ASSERT_TRUE(pair.say(exit_with(5000, 0, /*files=*/true)));
  EXPECT_EQ(pair.client.not_durable(kId), 0u);
  EXPECT_TRUE(pair.heard<ListFiles>()) << "a list has no credit";
  EXPECT_FALSE(pair.heard<Credit>());

  ASSERT_TRUE(pair.client.hold(kId, false));
  EXPECT_EQ(*pair.heard<Credit>(), (Credit{kId, kStdout, 600, 1600}));
  EXPECT_FALSE(pair.heard<Credit>());
}

TEST(AgentClientTest, FilesOfAnAttemptThatIsHeldAreNotAskedFor) {
  Pair pair;
  pair.greet();
  pair.start();
  ASSERT_TRUE(pair.say(exit_with(0, 0, /*files=*/true)));
  ASSERT_TRUE(pair.client.hold(kId, true));
  ASSERT_TRUE(pair.say(Files{kId, {{"a", 10, 0644, ""}}, true}));
  pair.client.files_durable(kId);
  EXPECT_TRUE(pair.heard<ListFiles>());
  EXPECT_FALSE(pair.heard<Credit>());

  ASSERT_TRUE(pair.client.hold(kId, false));
  EXPECT_EQ(pair.heard<Credit>()->stream, kFirstFile);
  EXPECT_FALSE(pair.client.hold({model::WorkId{99}, 1}, true)) << "it is not known";
}

TEST(AgentClientTest, ResumesAfterWhatIsDurable) {
  Pair pair(1000);
  pair.greet();

  ASSERT_TRUE(pair.client.resume(kId, 700, 0));

  EXPECT_EQ(*pair.heard<Credit>(), (Credit{kId, kStdout, 700, 1700}));
  EXPECT_EQ(*pair.heard<Credit>(), (Credit{kId, kStderr, 0, 1000}));
  EXPECT_EQ(error_of(pair.say(Output{kId, kStdout, 699, "x"})),
            "agent: output of j-1.1 repeats bytes");
}

// Bug: bytes that became durable on an earlier connection were ignored; no credit followed.
TEST(AgentClientTest, AFileThatIsDurableFromAnEarlierConnectionIsCollected) {
  Pair pair(1000);
  pair.greet();
  ASSERT_TRUE(pair.client.resume(kId, 0, 0));
  ASSERT_TRUE(pair.say(exit_with(0, 0, true)));
  ASSERT_TRUE(pair.say(Files{kId, {{"a", 1500, 0644, ""}}, true}));
  pair.client.files_durable(kId);
  ASSERT_TRUE(pair.say(Output{kId, kFirstFile, 0, std::string(1000, 'x')}));

  pair.client.durable(kId, kFirstFile, 1500);
  EXPECT_TRUE(pair.say(Output{kId, kFirstFile, 1000, std::string(500, 'x')}));
  pair.client.durable(kId, kFirstFile, 1500);

  EXPECT_TRUE(pair.next<Exit>());
  EXPECT_TRUE(pair.next<Files>());
  EXPECT_TRUE(pair.next<Chunk>());
  EXPECT_TRUE(pair.next<Chunk>());
  EXPECT_TRUE(pair.next<Collected>());
}

TEST(AgentClientTest, WhatIsGivenUpIsNotWaitedFor) {
  Pair pair(1000);
  pair.greet();
  pair.start();
  ASSERT_TRUE(pair.say(Output{kId, kStdout, 0, "abc"}));
  pair.client.give_up(kId, kStdout);
  ASSERT_TRUE(pair.say(Output{kId, kStdout, 3, "def"}));
  ASSERT_TRUE(pair.say(exit_with(5000, 0, true)));
  ASSERT_TRUE(pair.say(Files{kId, {{"a", 5, 0644, ""}, {"b", 5, 0644, ""}}, true}));
  EXPECT_TRUE(pair.next<Chunk>());
  EXPECT_TRUE(pair.next<Exit>());
  EXPECT_TRUE(pair.next<Files>());
  EXPECT_FALSE(pair.client.next());
  pair.client.give_up_files(kId);

  EXPECT_TRUE(pair.next<Collected>());
}

// Bug: the exit made the size of a stream known that had been said to be lost, and its bytes were
// waited for.
TEST(AgentClientTest, AStreamThatIsLostWhileTheJobRunsStaysLost) {
  Pair pair(1000);
  pair.greet();
  pair.start();
  ASSERT_TRUE(pair.say(Output{kId, kStdout, 0, "abc"}));
  ASSERT_TRUE(pair.say(OutputLost{kId, kStdout, "gone"}));
  ASSERT_TRUE(pair.say(exit_with(5000, 0)));
  EXPECT_TRUE(pair.next<Chunk>());
  EXPECT_TRUE(pair.next<OutputLost>());
  EXPECT_TRUE(pair.next<Exit>());
  EXPECT_FALSE(pair.client.next());

  pair.client.durable(kId, kStdout, 3);

  EXPECT_TRUE(pair.next<Collected>());
}

// Bug: an exit of an attempt that nobody knew here made it known, and its output was taken.
TEST(AgentClientTest, OfAttemptsThatAreNotOursOnlyTheExitIsPassedOn) {
  Pair pair;
  pair.greet();

  ASSERT_TRUE(pair.say(exit_with(3, 0, true)));
  ASSERT_TRUE(pair.say(Output{kId, kStdout, 0, "abc"}));
  ASSERT_TRUE(pair.say(OutputLost{kId, kStderr, "gone"}));
  ASSERT_TRUE(pair.say(Files{kId, {{"a", 5, 0644, ""}}, true}));

  EXPECT_TRUE(pair.next<Exit>());
  EXPECT_FALSE(pair.client.next());
  EXPECT_EQ(pair.client.pending(), "");
}

TEST(AgentClientTest, AnExitWithMoreOutputThanItSaysIsRefused) {
  Pair pair;
  pair.greet();
  pair.start();
  ASSERT_TRUE(pair.say(Output{kId, kStdout, 0, "abc"}));
  EXPECT_EQ(error_of(pair.say(exit_with(2, 0))),
            "agent: exit of j-1.1 states less output than was sent");
  Pair reason;
  reason.greet();
  Exit exit = exit_with(0, 0);
  exit.end.reason = model::EndReason::kHostLost;
  EXPECT_EQ(error_of(reason.say(exit)),
            "agent: exit of j-1.1 with a reason that only the daemon may give");
}

TEST(AgentClientTest, OffsetsThatNoStoreCanHoldAreRefused) {
  constexpr std::uint64_t kTooFar = std::uint64_t{1} << 63;
  Pair pair;
  pair.greet();
  pair.start();
  EXPECT_NE(error_of(pair.say(Output{kId, kStdout, kTooFar, "x"})).find("longer"),
            std::string::npos);
  EXPECT_NE(error_of(pair.say(Output{kId, kStdout, kTooFar - 1, "x"})).find("longer"),
            std::string::npos);
}

TEST(AgentClientTest, WhatComesForAcknowledgedAttemptsIsIgnored) {
  Pair pair;
  pair.greet();
  pair.start();
  ASSERT_TRUE(pair.client.ack({kId}));

  EXPECT_TRUE(pair.say(Output{kId, kStdout, 0, "late"}));
  EXPECT_FALSE(pair.client.next());
}

}  // namespace
}  // namespace hostler::agent
