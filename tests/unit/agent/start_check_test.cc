#include "core/agent/host/server/start_check.h"

#include <gtest/gtest.h>

#include "tests/unit/agent/attempts.h"

namespace hostler::agent {
namespace {

class StartCheckTest : public ::testing::Test {
 protected:
  StartCheckTest() {
    start_.attempt = id(7);
    start_.boot_id = "boot";
    start_.sequence = 10;
    start_.command = {"true"};
  }
  /// The reason of the refusal; nullopt if the attempt may start.
  std::optional<Refused::Why> why() {
    const auto refused = check_start(start_, host_);
    if (!refused) return std::nullopt;
    EXPECT_EQ(refused->attempt, start_.attempt);
    EXPECT_NE(refused->text, "");
    return refused->why;
  }
  Start start_;
  HostFacts host_{"boot", 9, 3, false, 1024};
};

TEST_F(StartCheckTest, AStartForThisBootWithANewSequenceNumberIsAccepted) {
  EXPECT_EQ(why(), std::nullopt);
}

TEST_F(StartCheckTest, AStartForAnotherBootIsRefused) {
  host_.boot_id = "next boot";
  EXPECT_EQ(why(), Refused::Why::kOtherBoot);
}

TEST_F(StartCheckTest, AUsedSequenceNumberIsRefused) {
  for (const std::uint64_t used : {std::uint64_t{8}, std::uint64_t{9}, std::uint64_t{1} << 63}) {
    start_.sequence = used;
    EXPECT_EQ(why(), Refused::Why::kUsedSequence) << used;
  }
}

TEST_F(StartCheckTest, AnAttemptThatIsInTheTableIsRefused) {
  host_.is_known = true;
  EXPECT_EQ(why(), Refused::Why::kBadRequest);
}

TEST_F(StartCheckTest, ExactlyOneOfCommandAndScriptIsNeeded) {
  start_.script = "true";
  EXPECT_EQ(why(), Refused::Why::kBadRequest);
  start_.command.clear();
  EXPECT_EQ(why(), std::nullopt);
  start_.script.clear();
  EXPECT_EQ(why(), Refused::Why::kBadRequest);
  start_.command = {""};
  EXPECT_EQ(why(), Refused::Why::kBadRequest);
}

TEST_F(StartCheckTest, AnEnvironmentNameWithoutTextOrWithAnEqualsSignIsRefused) {
  for (const char* name : {"", "A=B"}) {
    start_.env = {{name, "value"}};
    EXPECT_EQ(why(), Refused::Why::kBadRequest) << name;
  }
}

TEST_F(StartCheckTest, LimitsThatOverflowTheClockOrTheFileSizeAreRefused) {
  const Start good = start_;
  for (std::uint64_t Start::*limit : {&Start::output_head_max, &Start::output_tail_max,
                                      &Start::time_limit_us, &Start::grace_us}) {
    start_ = good;
    start_.*limit = std::uint64_t{1} << 62;
    EXPECT_EQ(why(), Refused::Why::kBadRequest);
  }
}

TEST_F(StartCheckTest, ACardOfAnAttemptThatRunsIsNotGivenOutAgain) {
  start_.cards = {"GPU-1", "GPU-2"};
  host_.holders = {{"GPU-3", id(3)}};
  EXPECT_EQ(why(), std::nullopt);
  host_.holders.emplace("GPU-2", id(4));
  const auto refused = check_start(start_, host_);
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->why, Refused::Why::kBusy);
  EXPECT_EQ(refused->text, "attempt j-4.1 has the card GPU-2 and still runs");
}

TEST_F(StartCheckTest, CardsThatTheJournalCannotKeepAreRefused) {
  start_.files = {"/dev/nvidia0"};
  EXPECT_EQ(why(), Refused::Why::kBadRequest) << "of which card?";
  start_.cards = {""};
  EXPECT_EQ(why(), Refused::Why::kBadRequest);
  start_.cards = {"GPU-1"};
  EXPECT_EQ(why(), std::nullopt);
  start_.files.assign(9, "/dev/" + std::string(4000, 'x'));
  EXPECT_EQ(why(), Refused::Why::kBadRequest);
}

TEST_F(StartCheckTest, AFullTableRefusesFurtherAttempts) {
  host_.attempts = kAttemptsMax - 1;
  EXPECT_EQ(why(), std::nullopt);
  host_.attempts = kAttemptsMax;
  EXPECT_EQ(why(), Refused::Why::kBusy);
}

// Bug: where 64 was the limit, shims closed the lock by which the server knows them, and their jobs
// stayed running for ever.
TEST_F(StartCheckTest, AHostOnWhichProcessesMayOpenFewFilesRefusesEveryAttempt) {
  host_.descriptors_max = 64;
  const auto refused = check_start(start_, host_);
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->why, Refused::Why::kInternal);
  EXPECT_EQ(refused->text,
            "a process may open 64 files on this host (ulimit -n), and a job needs 128");
}

}  // namespace
}  // namespace hostler::agent
