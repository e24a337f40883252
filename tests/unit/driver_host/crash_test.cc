// A driver that ends its process ends nothing else.
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

}  // namespace
}  // namespace hostler::plugin_host
