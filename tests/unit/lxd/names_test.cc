#include "names.h"

#include <gtest/gtest.h>

namespace hostler::lxd {
namespace {

TEST(LxdNamesTest, AKeyAlwaysMakesTheSameNameThatLxdTakes) {
  EXPECT_EQ(name_of_key("0f7c0a5e-1111-4222-8333-944455556666"),
            "hostler-0f7c0a5e-1111-4222-8333-944455556666");
  for (const std::string& key : {std::string("a_b"), std::string("a-"), std::string(63, 'k')}) {
    const std::string name = name_of_key(key);
    EXPECT_LE(name.size(), 63u);
    EXPECT_EQ(name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-"), std::string::npos);
    EXPECT_NE(name.back(), '-');
    EXPECT_NE(name, name_of_key(key + "1"));
  }
}

TEST(LxdNamesTest, WhatLxdWouldNotKeepAsItIsIsNoTag) {
  EXPECT_TRUE(is_tag("team.name:/x", "a b"));
  EXPECT_FALSE(is_tag("team", ""));
  EXPECT_FALSE(is_tag("", "x"));
  EXPECT_FALSE(is_tag("team", "a\nb"));
  EXPECT_FALSE(is_tag("team", std::string(256, 'x')));
  EXPECT_FALSE(is_tag("user-data", "x")) << "cloud-init would run it";
  EXPECT_FALSE(is_tag("hostler-driver.digest", "x"));
}

}  // namespace
}  // namespace hostler::lxd
