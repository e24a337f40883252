// What a driver does to its process harms nobody else, and is named.
#include "tests/unit/plugin_host/chaos_set.h"

#include <thread>

namespace hostler::plugin_host {
namespace {

using model::CloudErrorClass;
using ::testing::AllOf;
using ::testing::HasSubstr;

// Bug: whoever held the sockets of a process hid its end, and the set waited for it for ever.
TEST(HarmTest, AProcessThatHasForkedAndIsKilledIsSeenToEndAndLeavesNothing) {
  ChaosSet set("fork_and_die");

  const auto created = set.create();
  const auto listed = set.list();

  ASSERT_FALSE(created);
  EXPECT_TRUE(created.error().outcome_unknown);
  EXPECT_THAT(created.error().message, HasSubstr("was ended by signal 9 (Killed)"));
  EXPECT_TRUE(listed) << listed.error().message;
  while (set.is_waited_for()) std::this_thread::yield();  // the forked one is killed, too
}

TEST(HarmTest, AProcessThatIsClosedTakesWhatItHasForkedWithIt) {
  ChaosSet set("fork");
  ASSERT_TRUE(set.create());

  set.close();

  while (set.is_waited_for()) std::this_thread::yield();
}

TEST(HarmTest, GarbageInASocketEndsTheProcessAndNothingOfItIsBelieved) {
  ChaosSet set("write_to_descriptors");

  const auto created = set.create();

  ASSERT_FALSE(created);
  EXPECT_EQ(created.error().cls, CloudErrorClass::kTransient);
  EXPECT_TRUE(created.error().outcome_unknown);
  EXPECT_THAT(created.error().message, HasSubstr("was killed: R44: it has sent what"));
  EXPECT_TRUE(set.list()) << "a new process takes the next call";
}

TEST(HarmTest, ADriverWithoutDescriptorsIsToldSoAndGetsNoLongRequest) {
  ChaosSet set("leak_descriptors");
  ASSERT_TRUE(set.create());
  auto request = ChaosSet::request();
  request.user_data = std::string(100'000, 'x');  // too long for a message: it is sent as a file
  request.user_data_format = model::UserDataFormat::kSh;
  Awaited<model::ListedInstance> created;

  set->create(request, kPatience, {}, created.done());
  const auto result = created.get();

  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().cls, CloudErrorClass::kTransient);
  EXPECT_FALSE(result.error().outcome_unknown) << "the driver has not been called";
  EXPECT_THAT(result.error().message, HasSubstr("no file descriptor left"));
  EXPECT_TRUE(set.list()) << "short requests reach it";
}

// Bug: each such message began the time anew that set_close has, so the close of the set never
// ended.
TEST(HarmTest, AMessageOfOursThatTheDriverWritesEndsTheProcess) {
  testing::internal::CaptureStderr();
  ChaosSet set("say_hello_again");
  ASSERT_TRUE(set.opened()) << set.opened().error().message;

  set.close();

  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              HasSubstr("was killed: R44: it has sent what"));
}

struct Change {
  const char* word;
  const char* what;
};

TEST(HarmTest, WhatADriverChangesOfItsProcessIsNamed) {
  for (const auto& [word, what] :
       {Change{"change_signals", "handlers of signals"}, Change{"change_locale", "the locale"},
        Change{"change_directory", "the working directory"},
        Change{"change_environment", "the environment"},
        Change{"clear_environment", "the environment"}, Change{"change_umask", "the umask"}}) {
    ChaosSet set(word);
    ASSERT_TRUE(set.opened()) << word;

    while (set->health().broken_rules == 0) std::this_thread::yield();

    EXPECT_EQ(set->health().last_broken_rule, std::string("R44: the driver has changed ") + what);
  }
}

/// What the log says of a set that is closed.
std::string log_of_close(const char* word, const std::string& driver = "fake_chaos") {
  testing::internal::CaptureStderr();
  ChaosSet set(word, {}, driver);
  EXPECT_TRUE(set.opened()) << word;
  set.close();
  return testing::internal::GetCapturedStderr();
}

TEST(HarmTest, WhatADriverDoesAtItsCloseIsInTheLog) {
  EXPECT_THAT(log_of_close("segv in set_close"),
              HasSubstr("was ended by signal 11 (Segmentation fault) in set_close"));
  EXPECT_THAT(log_of_close("exit in set_close"), HasSubstr("was ended by exit(0) in set_close"));
#ifndef HOSTLER_SANITIZED  // The runtime of a sanitizer has threads of its own.
  EXPECT_THAT(log_of_close("leak_threads"), HasSubstr("R37: 100 threads are left after set_close"));
  EXPECT_THAT(log_of_close("leak_threads", "fake_go"), Not(HasSubstr("R37")))
      << "the runtime of Go cannot end its threads";
  EXPECT_THAT(log_of_close(""), Not(HasSubstr("set_close"))) << "of a driver that is well, nothing";
#endif
}

}  // namespace
}  // namespace hostler::plugin_host
