#include "core/dispatch/state/sets/last_list.h"

#include <gmock/gmock.h>

#include <string>

namespace hostler::dispatch {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;

model::ListedInstance named(const std::string& id) {
  model::ListedInstance out;
  out.id = id;
  return out;
}

/// A list in which everything was settled, and which entries of the next one are.
class LastListTest : public testing::Test {
 protected:
  void show(std::vector<model::ListedInstance> all) {
    auto entries = last_.compare(model::share(std::move(all)), as_of_ += 1s, as_of_);
    for (auto& entry : entries)
      if (!entry.settled) entry.settled = tokens_.emplace_back(std::make_shared<Settled>());
    last_.keep(std::move(entries));
  }
  std::vector<bool> settled(std::vector<model::ListedInstance> all, Duration later = 1s) {
    std::vector<bool> out;
    for (const auto& entry : last_.compare(model::share(std::move(all)), as_of_ + later, as_of_))
      out.push_back(entry.settled != nullptr);
    return out;
  }

  LastList last_;
  Mono as_of_{1h};
  std::vector<std::shared_ptr<Settled>> tokens_;
};

TEST_F(LastListTest, EqualEntriesAreSettledWhateverCameOrLeftBetweenThem) {
  show({named("a"), named("b"), named("c"), named("d")});
  EXPECT_THAT(settled({named("a"), named("new"), named("c"), named("d"), named("e")}),
              ElementsAre(true, false, true, true, false));
}

TEST_F(LastListTest, AnEntryThatDiffersInOneWordIsNotSettled) {
  show({named("a"), named("b")});
  auto moved = named("a");
  moved.address = "10.0.0.1";
  EXPECT_THAT(settled({moved, named("b")}), ElementsAre(false, true));
}

TEST_F(LastListTest, AHostThatChangedSinceIsLookedAt) {
  show({named("a"), named("b")});
  tokens_[0]->holds = false;
  EXPECT_THAT(settled({named("a"), named("b")}), ElementsAre(false, true));
}

TEST_F(LastListTest, OlderDataThanTheLastAreLookedAt) {
  show({named("a")});
  EXPECT_THAT(settled({named("a")}, -1s), ElementsAre(false));
}

TEST_F(LastListTest, OfAnEntryThatIsShownTwiceOneIsLookedAt) {
  show({named("a"), named("b")});
  EXPECT_THAT(settled({named("a"), named("a"), named("b")}), ElementsAre(true, false, true));
}

TEST_F(LastListTest, AnotherOrderIsLookedAt) {
  show({named("a"), named("b")});
  EXPECT_THAT(settled({named("b"), named("a")}), ElementsAre(true, false));
}

}  // namespace
}  // namespace hostler::dispatch
