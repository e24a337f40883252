#include <gmock/gmock.h>

#include "tests/unit/store/damaged_fixture.h"

/// Rows whose cards, or whose wishes for them, nobody can have written.
namespace hostler::store {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class DamagedGpusTest : public DamagedFixture {};

HOSTLER_ON_BOTH_ENGINES(DamagedGpusTest);

TEST_P(DamagedGpusTest, AWishForGpusThatNobodyCanHaveIsDamaged) {
  for (const auto& [value, problem] : std::vector<std::pair<std::string, std::string>>{
           {"gpus = 1, gpu_kind = 'A 100'", "gpu_kind is no kind of a gpu"},
           {"gpu_kind = 'a100', gpu_memory = -1", "gpu_memory is -1"},
           {"gpu_memory = 40, gpus = 0", "gpu_kind is set for work without gpus"}}) {
    const auto restored = restored_after("UPDATE work_specs SET " + value + " WHERE id = 6");
    EXPECT_THAT(work(restored), ElementsAre("j-5")) << value;
    EXPECT_THAT(named(restored), ElementsAre("work_specs j-6: " + problem));
  }
}

TEST_P(DamagedGpusTest, AnAttemptWhoseCardsCannotBeReadSetsItsWorkAside) {
  std::string many = "GPU-0";
  for (int i = 1; i <= model::kCardsMax; ++i) many += ",GPU-" + std::to_string(i);
  for (const std::string& cards : {std::string("GPU 1"), std::string("GPU-1,,GPU-2"),
                                   std::string("GPU-1,GPU-1"), std::string(65, 'x'), many}) {
    const auto restored =
        restored_after("UPDATE attempts SET cards = '" + cards + "' WHERE work = 5");
    EXPECT_THAT(work(restored), ElementsAre("j-6")) << cards;
    EXPECT_THAT(named(restored), ElementsAre("attempts j-5.1: cards is no list of cards",
                                             "work j-5: an attempt of it is damaged"));
  }
}

TEST_P(DamagedGpusTest, OfferedTypesWhoseGpusAreNotSaidAreLeftOut) {
  model::OfferedRow row;
  row.set = "west", row.provider_type = "p4", row.name = "p4", row.resources.gpus = 2;
  row.gpu_groups = {{.kind = "a100", .memory = 0, .count = 2}};
  must_commit({row});
  for (const char* groups : {"a100", "3", R"({"count":1,"kind":"a100"})", R"({"kind":"a100"})"}) {
    const auto restored =
        restored_after("UPDATE offered_types SET gpu_groups = '" + std::string(groups) + "'");
    EXPECT_THAT(restored.offered, IsEmpty()) << groups;
    EXPECT_THAT(named(restored), ElementsAre(HasSubstr("gpu_groups does not say which gpus")));
  }
}

}  // namespace
}  // namespace hostler::store
