#include "core/agent/host/attempt/name_pattern.h"

#include <gtest/gtest.h>

#include <string>

namespace hostler::agent {
namespace {

TEST(NamePatternTest, MatchesNames) {
  EXPECT_TRUE(matches_name("*.txt", "a.txt"));
  EXPECT_TRUE(matches_name("a?c", "abc"));
  EXPECT_TRUE(matches_name("[a-c]x[!0-9]", "bxz"));
  EXPECT_TRUE(matches_name("*a*b*", "xxaxxbxx"));
  EXPECT_TRUE(matches_name("\\*", "*"));
  EXPECT_TRUE(matches_name("[", "["));
  EXPECT_TRUE(matches_name(".*", ".hidden"));
  EXPECT_FALSE(matches_name("*", ".hidden"));
  EXPECT_FALSE(matches_name("*.txt", "a.txt.gz"));
  EXPECT_FALSE(matches_name("[a-c]x[!0-9]", "bx5"));
  EXPECT_FALSE(matches_name("a", ""));
  EXPECT_FALSE(matches_name("", "a"));
}

TEST(NamePatternTest, ManyStarsTakeNoLongTime) {
  std::string pattern;
  for (int i = 0; i < 1000; ++i) pattern += "*a";
  EXPECT_FALSE(matches_name(pattern, std::string(255, 'a') + "b"));
}

}  // namespace
}  // namespace hostler::agent
