// A driver that ends its process ends nothing else.
#include <sys/resource.h>

#include <deque>
#include <thread>

#include "tests/unit/plugin_host/chaos_set.h"

namespace hostler::plugin_host {
namespace {

using model::CloudErrorClass;
using ::testing::AllOf;
using ::testing::HasSubstr;

struct End {
  const char* word;
  const char* message;
};

class EndOfProcess : public ::testing::TestWithParam<End> {};

TEST_P(EndOfProcess, EndsTheCallWithAnErrorThatSaysHowAndWhere) {
  ChaosSet set(GetParam().word);

  const auto created = set.create();
  const auto listed = set.list();

  ASSERT_FALSE(created);
  EXPECT_EQ(created.error().cls, CloudErrorClass::kTransient);
  EXPECT_TRUE(created.error().outcome_unknown);
  EXPECT_THAT(created.error().message,
              AllOf(HasSubstr("driver 'fake_chaos': create: the driver's process was ended by"),
                    HasSubstr(GetParam().message)));
  EXPECT_TRUE(listed) << "a new process takes the next call";
  EXPECT_THAT(set->health().last_crash, HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(Each, EndOfProcess,
                         ::testing::Values(End{"segv", "signal 11 (Segmentation fault) in create"},
                                           End{"abort", "signal 6 (Aborted) in create"},
                                           End{"exit", "exit(0) in create"},
                                           End{"overflow_stack",
                                               "signal 11 (Segmentation fault) in create"},
                                           End{"kill", "signal 9 (Killed)"},
                                           End{"segv_in_thread", "signal 11 (Segmentation fault)"},
                                           End{"say_and_abort", "; it wrote: the last words"}),
                         [](const auto& end) { return std::string(end.param.word); });

TEST(CrashTest, TheErrorOfTheCallInWhichTheDriverDiedHasTheCrashAsAValue) {
  ChaosSet set("say_and_abort");
  const auto created = set.create();
  ASSERT_FALSE(created);
  ASSERT_TRUE(created.error().crash);
  EXPECT_EQ(created.error().crash->call, "create");
  EXPECT_THAT(created.error().crash->ending, HasSubstr("signal 6 (Aborted)"));
  EXPECT_EQ(created.error().crash->output, "the last words");
  EXPECT_EQ(created.error().crash->driver.version, "1.0");
}

// The kernel was short of memory, or somebody meant it.
TEST(CrashTest, AProcessThatWasKilledFromOutsideIsNoCrashOfItsCall) {
  ChaosSet set("kill");
  const auto created = set.create();
  ASSERT_FALSE(created);
  EXPECT_FALSE(created.error().crash);
}

/// This process can open no further file while it lives.
class NoDescriptors {
 public:
  NoDescriptors() {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    rlimit few = before_;
    few.rlim_cur = 4;  // poll() takes no more: those of one process, and the loop's own
    ::setrlimit(RLIMIT_NOFILE, &few);
  }
  ~NoDescriptors() { ::setrlimit(RLIMIT_NOFILE, &before_); }
  NoDescriptors(const NoDescriptors&) = delete;
  NoDescriptors& operator=(const NoDescriptors&) = delete;

 private:
  rlimit before_{};
};

TEST(CrashTest, WithoutADescriptorForANewProcessACallAndTheStateSaySo) {
  ChaosSet set("kill");
  {
    const NoDescriptors none;
    (void)set.create();
    const auto listed = set.list();
    ASSERT_FALSE(listed);
    EXPECT_TRUE(listed.error().no_descriptors);
    EXPECT_THAT(listed.error().message, HasSubstr("Too many open files"));
    EXPECT_THAT(set->health().state, ::testing::StartsWith("not started: "));
  }
  EXPECT_TRUE(set.list());
}

TEST(CrashTest, AfterFiveDeathsTheStateSaysWhenTheNextProcessIsStarted) {
  ChaosSet set("kill");
  for (int n = 0; n < 5; ++n) (void)set.create();
  EXPECT_THAT(set->health().state, ::testing::StartsWith("crashed, next try 20"));
}

TEST(CrashTest, TheIdThatACreateHasEmittedIsNotLostWithItsProcess) {
  for (const char* word : {"id_then_segv", "id_then_kill", "id_then_exit"}) {
    ChaosSet set(word);
    Awaited<model::ListedInstance> created;
    std::string seen;

    set->create(
        ChaosSet::request(), kPatience,
        [&](const model::ListedInstance& record) { seen = record.id; }, created.done());
    const auto result = created.get();

    ASSERT_FALSE(result) << word;
    EXPECT_TRUE(result.error().outcome_unknown) << word;
    EXPECT_EQ(seen, "i-key-1") << word;
  }
}

TEST(CrashTest, AProcessThatHangsIsKilledAndAnotherTakesTheNextCall) {
  for (const char* word : {"hang", "hang_pending"}) {
    ChaosSet set(word, {.grace = 20ms});

    const auto created = set.create(10ms);
    const auto listed = set.list();

    ASSERT_FALSE(created);
    EXPECT_EQ(created.error().cls, CloudErrorClass::kTimeout);
    EXPECT_TRUE(listed) << word << ": " << listed.error().message;
  }
}

/// Makes calls until one of them has hung beside those that hang already. On a busy machine a call
/// may reach its deadline before it is sent: then it does not hang.
void hang_one_more(ChaosSet& set, std::deque<Awaited<model::ListedInstance>>& calls) {
  const auto hung = [&] { return set->health().hung_calls; };
  const auto before = hung();
  while (hung() == before) {
    auto& call = calls.emplace_back();
    set->create(ChaosSet::request(), 10ms, {}, call.done());
    while (!call.has_arrived() && hung() == before) std::this_thread::yield();
  }
}

// Bug: the set stayed suspended for ever, as nobody noticed that no call hung any more.
TEST(CrashTest, TwoProcessesThatHangSuspendTheSetUntilTheirCallsReturn) {
  ChaosSet set("hang", {.grace = kPatience, .hang = 1ms});
  std::deque<Awaited<model::ListedInstance>> calls;

  hang_one_more(set, calls);
  EXPECT_TRUE(set.list()) << "a second process takes the other calls";
  hang_one_more(set, calls);
  const auto health = set->health();
  const auto refused = set.list();
  set.release();
  for (auto& call : calls) (void)call.get();

  EXPECT_TRUE(health.suspended);
  EXPECT_EQ(health.state, "suspended: two calls hang in create");
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("the set is suspended"));
  EXPECT_TRUE(set.list());
  EXPECT_EQ(set->health().crashes, 0U);
}

}  // namespace
}  // namespace hostler::plugin_host
