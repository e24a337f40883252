#include "core/model/gpu_flaw.h"

#include <gmock/gmock.h>

#include <limits>

namespace hostler::model {
namespace {

using testing::HasSubstr;

TEST(GpuFlawTest, GroupsThatAreAllGpusHaveNone) {
  EXPECT_EQ(gpu_flaw({}, 4), "") << "nothing is said";
  EXPECT_EQ(gpu_flaw({{"a100", 0, 4}}, 4), "");
  EXPECT_EQ(gpu_flaw({{"", 1, 1}, {"a100", 1, 1}, {"a100", 2, 2}}, 4), "");
}

TEST(GpuFlawTest, SaysWhichRuleGroupsBreak) {
  EXPECT_EQ(gpu_flaw({{"a100", 0, 3}}, 4), "groups of 3 gpus together, which are 4");
  EXPECT_EQ(gpu_flaw({{"a100", 0, 1}, {"a100", 0, 1}}, 2),
            "two groups of gpus of one kind and memory");
  EXPECT_THAT(gpu_flaw({{"a100", 0, 0}}, 0), HasSubstr("a group of no gpus"));
  EXPECT_THAT(gpu_flaw({{"a100", 0, -1}, {"t4", 0, 2}}, 1), HasSubstr("a group of no gpus"));
  EXPECT_THAT(gpu_flaw({{"a100", 0, INT32_MAX}, {"t4", 0, INT32_MAX}}, -2),
              HasSubstr("more than 2^20"));
  for (const std::int64_t memory : {std::int64_t{-1}, std::numeric_limits<std::int64_t>::max()})
    EXPECT_EQ(gpu_flaw({{"a100", memory, 1}}, 1), "a gpu of more than 2^50 bytes");
  for (const std::string kind : {"A100", "a 100", "a,b", "a:b"})
    EXPECT_THAT(gpu_flaw({{kind, 0, 1}}, 1), HasSubstr("a kind of gpus that is not")) << kind;
  EXPECT_THAT(gpu_flaw({{std::string(64, 'a'), 0, 1}}, 1), HasSubstr("1 to 63"));
  EXPECT_THAT(gpu_flaw(GpuGroups(1000, {"a100", 0, 1}), 1000), HasSubstr("1000 groups of gpus"));
}

}  // namespace
}  // namespace hostler::model
