#include "core/api/connections.h"

#include <gmock/gmock.h>

#include <vector>

namespace hostler::api {
namespace {

using Kind = Connections::Kind;
using Place = std::shared_ptr<Connections::Place>;

class ConnectionsTest : public testing::Test {
 protected:
  Place take(Kind kind, const std::string& source) {
    auto place = all->take(kind, source);
    if (place != nullptr)
      place->on_cut([this, name = source + "#" + std::to_string(++made)] { cut.push_back(name); });
    return place;
  }

  std::shared_ptr<Connections> all =
      std::make_shared<Connections>(Connections::Bounds{.all = 4, .of_source = 2});
  std::vector<std::string> cut;
  int made = 0;
};

TEST_F(ConnectionsTest, TheOldestOfAnAddressGivesWayToItsNext) {
  const Place other = take(Kind::kTcp, "b");
  const std::vector<Place> held{take(Kind::kTcp, "a"), take(Kind::kTcp, "a"),
                                take(Kind::kTcp, "a")};
  EXPECT_THAT(cut, testing::ElementsAre("a#2"));
  EXPECT_NE(take(Kind::kTcp, "a"), nullptr);
  EXPECT_THAT(cut, testing::ElementsAre("a#2", "a#3"));
}

TEST_F(ConnectionsTest, TheOldestOfAllGivesWayWhenThereAreTooMany) {
  std::vector<Place> held;
  for (const char* source : {"a", "b", "c", "d", "e"}) held.push_back(take(Kind::kTcp, source));
  EXPECT_THAT(cut, testing::ElementsAre("a#1"));
}

TEST_F(ConnectionsTest, WhoHasShownATokenStays) {
  std::vector<Place> held;
  for (const char* source : {"a", "b", "c", "d"}) held.push_back(take(Kind::kTcp, source));
  EXPECT_TRUE(held[0]->prove("ci"));
  EXPECT_TRUE(held[2]->prove("ci"));
  held.push_back(take(Kind::kTcp, "e"));
  EXPECT_THAT(cut, testing::ElementsAre("b#2"));
  for (const auto& one : held) one->prove("cd");  // To one that was cut it comes too late.
  EXPECT_EQ(take(Kind::kTcp, "f"), nullptr);
  EXPECT_EQ(cut.size(), 1U);
}

// Bug: one token of the role read took all places of TCP from two addresses, and no admin got in.
TEST_F(ConnectionsTest, OneTokenDoesNotTakeAllPlaces) {
  std::vector<Place> held;
  for (const char* source : {"a", "b", "c", "d"}) held.push_back(take(Kind::kTcp, source));
  EXPECT_TRUE(held[0]->prove("ci"));
  EXPECT_TRUE(held[1]->prove("ci"));
  EXPECT_FALSE(held[2]->prove("ci"));
  EXPECT_TRUE(held[3]->prove("admin"));
  held.push_back(take(Kind::kTcp, "e"));
  EXPECT_THAT(cut, testing::ElementsAre("c#3"));
  held.erase(held.begin());
  EXPECT_TRUE(held.back()->prove("ci"));
}

TEST_F(ConnectionsTest, APlaceIsFreeAgainAfterItsEnd) {
  for (int n = 0; n < 10; ++n) {
    const Place one = take(Kind::kUser, "7");
    const Place two = take(Kind::kUser, "7");
    ASSERT_NE(two, nullptr);
    EXPECT_EQ(take(Kind::kUser, "7"), nullptr);
  }
  std::vector<Place> held;
  for (int n = 0; n < 10; ++n) held.push_back(take(Kind::kTcp, "a"));
  held.clear();  // Most of them were cut before.
  for (int n = 0; n < 2; ++n) held.push_back(take(Kind::kTcp, "a"));
  EXPECT_EQ(cut.size(), 8U);
}

TEST_F(ConnectionsTest, UsersCannotTakeThePlacesOfAdminsOrOfTcp) {
  std::vector<Place> held;
  for (const char* user : {"7", "7", "8", "8"}) held.push_back(take(Kind::kUser, user));
  EXPECT_EQ(take(Kind::kUser, "9"), nullptr);
  for (int n = 0; n < 4; ++n) {
    held.push_back(take(Kind::kAdmin, "0"));
    EXPECT_NE(held.back(), nullptr);
  }
  EXPECT_EQ(take(Kind::kAdmin, "0"), nullptr);
  EXPECT_NE(take(Kind::kTcp, "a"), nullptr);
  EXPECT_TRUE(cut.empty());
}

TEST_F(ConnectionsTest, WhoWasCutBeforeItCouldBeToldIsToldAtOnce) {
  const Place early = all->take(Kind::kTcp, "a");
  const std::vector<Place> more{take(Kind::kTcp, "a"), take(Kind::kTcp, "a")};
  bool told = false;
  early->on_cut([&] { told = true; });
  EXPECT_TRUE(told);
}

}  // namespace
}  // namespace hostler::api
