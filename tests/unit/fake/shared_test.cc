// What sets of one process can share.
#include "tests/unit/fake/fake_set.h"

namespace hostler::plugin_host {
namespace {

TEST(FakeSharedTest, SetsThatNameTheSameCloudShareIt) {
  FakeSet one(R"("cloud": "east")"), other(R"("cloud": "east")"), unnamed("");

  ASSERT_TRUE(one.create("k1"));

  EXPECT_EQ(one.opened().value().account_id, "east");
  EXPECT_THAT(other.list(), testing::SizeIs(1));
  EXPECT_THAT(unnamed.list(), testing::IsEmpty());
}

}  // namespace
}  // namespace hostler::plugin_host
