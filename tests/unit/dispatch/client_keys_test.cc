#include "core/dispatch/state/client_keys.h"

#include <gtest/gtest.h>

namespace hostler::dispatch {
namespace {

TEST(ClientKeysTest, NamesAJobForItsPrincipalAlone) {
  ClientKeys keys;
  keys.add("ann", "k", {"digest", {1}});

  ASSERT_NE(keys.find("ann", "k"), nullptr);
  EXPECT_EQ(keys.find("ann", "k")->work, model::WorkId{1});
  EXPECT_EQ(keys.find("ann", "k")->digest, "digest");
  EXPECT_EQ(keys.find("bob", "k"), nullptr);
  EXPECT_EQ(keys.find("ann", "other"), nullptr);
}

TEST(ClientKeysTest, ForgetsJobsInAnyOrder) {
  ClientKeys keys;
  for (std::uint64_t i = 1; i <= 5; ++i) keys.add("ann", std::to_string(i), {"d", {i * 10}});

  keys.forget({{30}, {10}, {35}, {99}, {30}});

  EXPECT_EQ(keys.find("ann", "1"), nullptr);
  EXPECT_EQ(keys.find("ann", "3"), nullptr);
  EXPECT_NE(keys.find("ann", "2"), nullptr);
  EXPECT_EQ(keys.size(), 3U);
  keys.forget({{20}, {30}, {40}, {50}});
  EXPECT_EQ(keys.size(), 0U);
}

TEST(ClientKeysTest, AForgottenKeyMayNameANewJob) {
  ClientKeys keys;
  keys.add("ann", "k", {"old", {1}});
  keys.add("ann", "stays", {"d", {2}});
  keys.forget({{1}});

  keys.add("ann", "k", {"new", {3}});

  ASSERT_NE(keys.find("ann", "k"), nullptr);
  EXPECT_EQ(keys.find("ann", "k")->digest, "new");
  keys.forget({{1}, {2}});
  EXPECT_NE(keys.find("ann", "k"), nullptr);
}

TEST(ClientKeysTest, KeepsWhatItKnowsWhenMoved) {
  ClientKeys keys;
  keys.add("ann", "1", {"d", {1}});
  keys.add("ann", "2", {"d", {2}});
  keys.forget({{2}});

  ClientKeys moved = std::move(keys);
  moved.forget({{1}, {2}});

  EXPECT_EQ(moved.size(), 0U);
}

}  // namespace
}  // namespace hostler::dispatch
