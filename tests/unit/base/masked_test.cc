#include "core/base/masked.h"

#include <gtest/gtest.h>

namespace hostler {
namespace {

TEST(MaskedTest, HidesEachSecretAndNoPartOfALongerOne) {
  const auto secrets = longest_first({"key-1", "key-12"});
  EXPECT_EQ(masked("key-12, key-1 and key-1key-1", secrets), "***, *** and ******");
  EXPECT_EQ(masked("", secrets), "");
}

TEST(MaskedTest, EndsWithASecretThatIsAPartOfWhatStandsForIt) {
  EXPECT_EQ(masked("a * and **", {"*"}), "a *** and ******");
}

}  // namespace
}  // namespace hostler
