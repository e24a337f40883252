#include "core/agent/bounds.h"

#include <gmock/gmock.h>

#include <functional>

#include "tests/unit/agent/client_pair.h"

/// Numbers that no host can mean.
namespace hostler::agent {
namespace {

using model::EndReason;
using testing::HasSubstr;
using testing::IsEmpty;

Exit changed_exit(const std::function<void(model::AttemptEnd&)>& change) {
  Exit out;
  out.attempt = kId;
  out.end.started.us = 1'700'000'000'000'000;
  out.end.ended.us = 1'700'000'001'000'000;
  change(out.end);
  return out;
}

Hello hello_with(std::string boot_id, std::uint64_t last_sequence) {
  Hello out;
  out.boot_id = std::move(boot_id);
  out.last_sequence = last_sequence;
  return out;
}

model::AttemptEnd bounded(const std::function<void(model::AttemptEnd&)>& change,
                          const std::string& problem) {
  FromAgent message = changed_exit(change);
  const Bounded found = bound(message);
  EXPECT_EQ(found.problem, problem);
  EXPECT_FALSE(found.is_void);
  return std::get<Exit>(message).end;
}

TEST(BoundsTest, WhatAHostCanMeanIsLeftAsItIs) {
  const auto one = changed_exit([](model::AttemptEnd& end) {
    end.exit_code = 255, end.cpu_us = kCpuMax, end.ram_peak = kRamMax;
  });
  const auto never = changed_exit([](model::AttemptEnd& end) {
    end.reason = EndReason::kStartFailed, end.exit_code = kNeverStarted;
  });
  const auto killed = changed_exit(
      [](model::AttemptEnd& end) { end.reason = EndReason::kSignal, end.signal = 64; });
  for (const Exit& good : {one, never, killed}) {
    FromAgent message = good;
    EXPECT_THAT(bound(message).problem, IsEmpty());
    EXPECT_EQ(std::get<Exit>(message).end, good.end);
  }
}

// Bug: it became the exit status of the job.
TEST(BoundsTest, AnImpossibleStatusIsALostSupervision) {
  const auto end = bounded([](model::AttemptEnd& e) { e.exit_code = -2147483521; },
                           "an exit status of -2147483521 for j-1.1");
  EXPECT_EQ(end.reason, EndReason::kSupervisionLost);
  EXPECT_EQ(end.exit_code, 0);
  EXPECT_EQ(end.text, "its host reported an exit status of -2147483521 for j-1.1");
  (void)bounded([](model::AttemptEnd& e) { e.exit_code = kNeverStarted; },
                "an exit status of -1 for j-1.1");
  (void)bounded([](model::AttemptEnd& e) { e.signal = 65; }, "a signal of 65 for j-1.1");
  (void)bounded([](model::AttemptEnd& e) { e.reason = EndReason::kSignal; },
                "a signal of 0 for j-1.1");
}

TEST(BoundsTest, ImpossibleAmountsCountAsNone) {
  const auto ram = bounded([](model::AttemptEnd& e) { e.ram_peak = INT64_MIN, e.exit_code = 3; },
                           "a RAM peak of -9223372036854775808 for j-1.1");
  EXPECT_EQ(ram.ram_peak, 0);
  EXPECT_EQ(ram.exit_code, 3) << "it may be true";
  const auto cpu = bounded([](model::AttemptEnd& e) { e.cpu_us = INT64_MAX; },
                           "a cpu time (microseconds) of 9223372036854775807 for j-1.1");
  EXPECT_EQ(cpu.cpu_us, 0);
}

TEST(BoundsTest, ImpossibleTimesHaveNoDuration) {
  for (const std::int64_t bad : {INT64_MIN, std::int64_t{-1}, kTimeLast + 1, INT64_MAX}) {
    const auto start =
        bounded([&](model::AttemptEnd& e) { e.started.us = bad; },
                "a start (microseconds since 1970) of " + std::to_string(bad) + " for j-1.1");
    EXPECT_EQ(start.started, start.ended);
    const auto end =
        bounded([&](model::AttemptEnd& e) { e.ended.us = bad; },
                "an end (microseconds since 1970) of " + std::to_string(bad) + " for j-1.1");
    EXPECT_EQ(end.started, end.ended);
    FromAgent started = Started{kId, bad};
    EXPECT_THAT(bound(started).problem, HasSubstr(std::to_string(bad)));
    EXPECT_EQ(std::get<Started>(started).started_us, kTimeLast);
  }
}

TEST(BoundsTest, AMessageOfAnAttemptThatCannotBeIsVoid) {
  const model::AttemptId bad[] = {
      {model::WorkId{0}, 1}, {model::WorkId{1}, 0}, {model::WorkId{std::uint64_t{1} << 63U}, 1}};
  for (const auto& id : bad) {
    for (FromAgent message : {FromAgent(Started{id, 1}), FromAgent(Refused{id, {}, ""}),
                              FromAgent(Exit{id, {}}), FromAgent(Output{id, 0, 0, "x"}),
                              FromAgent(OutputLost{id, 0, ""}), FromAgent(Files{id, {}, true})}) {
      const Bounded found = bound(message);
      EXPECT_TRUE(found.is_void);
      EXPECT_THAT(found.problem, HasSubstr(std::to_string(id.work.value)));
    }
  }
  FromAgent listing = Listing{{{bad[0], Phase::kRunning}, {kId, Phase::kRunning}}, true};
  const Bounded found = bound(listing);
  EXPECT_FALSE(found.is_void);
  EXPECT_THAT(found.problem, HasSubstr("attempt j-0.1"));
  EXPECT_EQ(std::get<Listing>(listing).known, (std::vector<Known>{{kId, Phase::kRunning}}));
}

TEST(BoundsTest, ASequenceNumberThatLeavesNoneForStartsIsNotTaken) {
  FromAgent hello = hello_with("b", UINT64_MAX);
  EXPECT_EQ(bound(hello).problem, "a last sequence number of 18446744073709551615");
  EXPECT_EQ(std::get<Hello>(hello).last_sequence, 0U);
}

TEST(BoundsTest, AnImpossibleScratchIsDroppedAndTheHostIsDoubted) {
  for (const std::int64_t bytes : {std::int64_t{-1}, INT64_MIN, INT64_MAX}) {
    FromAgent scratch = Scratch{bytes};
    const Bounded found = bound(scratch);
    EXPECT_TRUE(found.is_void);
    EXPECT_EQ(found.problem, "a scratch (bytes) of " + std::to_string(bytes));
  }
  FromAgent none = Scratch{0};
  EXPECT_EQ(bound(none).problem, "");
}

TEST(BoundsTest, AnImpossibleRamIsDroppedAndTheHostIsDoubted) {
  for (const std::int64_t bytes : {std::int64_t{0}, std::int64_t{-1}, kRamMax + 1, INT64_MAX}) {
    FromAgent ram = Ram{bytes};
    const Bounded found = bound(ram);
    EXPECT_TRUE(found.is_void);
    EXPECT_EQ(found.problem, "a RAM (bytes) of " + std::to_string(bytes));
  }
  FromAgent some = Ram{1};
  EXPECT_EQ(bound(some).problem, "");
}

TEST(BoundsTest, CardsThatCannotBeLeaveTheListing) {
  FromAgent listing = Listing{{{kId, Phase::kRunning, {"GPU-1", "a,b", "", "GPU-2"}}}, true};
  EXPECT_EQ(bound(listing).problem, "a card \"a,b\" of j-1.1");
  EXPECT_EQ(std::get<Listing>(listing).known[0].cards,
            (std::vector<std::string>{"GPU-1", "GPU-2"}));
}

TEST(BoundsTest, DeviceFilesThatCannotBeLeaveTheReading) {
  const Cards::File good{"/dev/nvidia0", "0000:3b:00.0"}, nameless{"/dev/dri/card0", ""};
  for (const Cards::File& bad : {Cards::File{"dev/nvidia0", ""}, Cards::File{"", ""},
                                 Cards::File{"/dev/a\nb", ""}, Cards::File{"/dev/x", "a b"}}) {
    Cards cards;
    cards.files = {good, bad, nameless};
    FromAgent message = cards;
    const Bounded found = bound(message);
    EXPECT_THAT(found.problem, HasSubstr("a device file"));
    EXPECT_FALSE(found.is_void);
    EXPECT_EQ(std::get<Cards>(message).files, (std::vector<Cards::File>{good, nameless}));
  }
}

TEST(BoundsTest, AToolEndsWithAStatusThatCanBe) {
  for (const std::int32_t bad : {-1, 256, INT32_MAX}) {
    Cards cards;
    cards.status = bad;
    FromAgent message = cards;
    EXPECT_EQ(bound(message).problem,
              "an exit status of " + std::to_string(bad) + " for the reading of its cards");
    EXPECT_EQ(std::get<Cards>(message).status, 255) << "it has failed";
  }
}

TEST(BoundsTest, AFileOfImpossibleSizeIsNotCollected) {
  FromAgent files = Files{kId, {{"a", UINT64_MAX, 0644, ""}, {"b", 1, 0xffff, ""}}, true};
  EXPECT_EQ(bound(files).problem, "a file size of 18446744073709551615 for j-1.1");
  const auto& got = std::get<Files>(files).files;
  EXPECT_EQ(got[0], (OutputFile{"a", 0, 0644, "its host reported a size of 18446744073709551615"}));
  EXPECT_EQ(got[1], (OutputFile{"b", 1, 0777, ""}));
}

TEST(BoundsTest, TheFirstDoubtMakesTheHostBrokenAndTheRestGoesOn) {
  Pair pair;
  pair.greet();
  pair.start();
  ASSERT_TRUE(pair.say(Started{kId, -1}));
  ASSERT_TRUE(pair.say(changed_exit([](model::AttemptEnd& end) { end.exit_code = 256; })));

  EXPECT_EQ(pair.next<HostBroken>(),
            (HostBroken{kReport, "it reported a start (microseconds since 1970) of -1 for j-1.1"}));
  EXPECT_TRUE(pair.next<Started>());
  const auto exit = pair.next<Exit>();
  ASSERT_TRUE(exit);
  EXPECT_EQ(exit->end.reason, EndReason::kSupervisionLost);
  EXPECT_TRUE(pair.next<Collected>());
  EXPECT_FALSE(pair.client.next()) << "one alarm";
}

TEST(BoundsTest, ADoubtOfTheGreetingFollowsReady) {
  Pair pair;
  ASSERT_TRUE(pair.client.receive(kGreeting));
  ASSERT_TRUE(pair.say(hello_with("b", UINT64_MAX)));
  ASSERT_TRUE(pair.say(Listing{}));
  ASSERT_TRUE(pair.say(Cards{}));
  EXPECT_TRUE(pair.next<Ready>());
  EXPECT_TRUE(pair.next<HostBroken>());
}

TEST(BoundsTest, AStreamOfImpossibleSizeIsLostAndTheOtherIsCollected) {
  Pair pair;
  pair.greet();
  pair.start();
  ASSERT_TRUE(pair.say(Output{kId, kStdout, 0, "abc"}));
  ASSERT_TRUE(pair.next<Chunk>());
  pair.client.durable(kId, kStdout, 3);
  ASSERT_TRUE(pair.say(changed_exit([](model::AttemptEnd& end) {
    end.output_is_inline = false;
    end.stdout_bytes = std::uint64_t{1} << 63U;
    end.stderr_bytes = 2;
  })));

  EXPECT_EQ(pair.next<HostBroken>(),
            (HostBroken{kReport, "it reported 9223372036854775808 bytes of output for j-1.1"}));
  const auto exit = pair.next<Exit>();
  ASSERT_TRUE(exit);
  EXPECT_EQ(exit->end.stdout_bytes, 3U);
  EXPECT_TRUE(pair.next<OutputLost>());
  EXPECT_FALSE(pair.client.next());
  ASSERT_TRUE(pair.say(Output{kId, kStderr, 0, "de"}));
  ASSERT_TRUE(pair.next<Chunk>());
  pair.client.durable(kId, kStderr, 2);
  EXPECT_TRUE(pair.next<Collected>());
}

TEST(BoundsTest, IdsOfAHostArePlainText) {
  Pair pair;
  ASSERT_TRUE(pair.client.receive(kGreeting));
  EXPECT_THAT(error_of(pair.say(hello_with("a\x1b", 0))), HasSubstr("not plain text"));
}

}  // namespace
}  // namespace hostler::agent
