#include "core/config/places.h"

#include <gtest/gtest.h>

namespace hostler::config {
namespace {

TEST(PlacesTest, RootHasTheSystemsPlaces) {
  const Surroundings root{
      .is_root = true, .home = "/root", .state_home = "/x", .runtime_dir = "/y"};

  EXPECT_EQ(default_state_dir(root), "/var/lib/hostler");
  EXPECT_EQ(default_socket(root, "/s"), "/run/hostler/hostler.sock");
}

TEST(PlacesTest, UsersHaveTheirOwn) {
  Surroundings user{.is_root = false, .home = "/home/u", .state_home = "", .runtime_dir = ""};

  EXPECT_EQ(default_state_dir(user), "/home/u/.local/state/hostler");
  EXPECT_EQ(default_socket(user, "/s"), "/s/hostler.sock");

  user.state_home = "/state";
  user.runtime_dir = "/run/user/7";
  EXPECT_EQ(default_state_dir(user), "/state/hostler");
  EXPECT_EQ(default_socket(user, "/s"), "/run/user/7/hostler.sock");
}

}  // namespace
}  // namespace hostler::config
