#include "core/demand/lane_order.h"

#include <gtest/gtest.h>

#include <map>

#include "core/base/random.h"

namespace hostler::demand {
namespace {

model::Resources needs_of(Random& random) {
  const auto some = [&] { return static_cast<std::int32_t>(random.below(6)); };
  return {.vcpus = some(), .gpus = some(), .ram = some(), .scratch = some()};
}

// Against a walk through all lanes.
TEST(LaneOrderTest, FindsTheFirstThatHasRoomAsAnExhaustiveSearchWould) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    Random random(seed);
    LaneOrder order;
    std::map<LanePlace, model::Resources> all;
    for (int step = 0; step < 200; ++step) {
      if (random.chance(0.7)) {
        const LanePlace place{.priority = static_cast<std::int32_t>(random.below(3)) - 1,
                              .arrival = random.below(50),
                              .cls = random.below(1000)};
        const auto needs = needs_of(random);
        if (all.emplace(place, needs).second) order.insert(place, needs);
      } else if (!all.empty()) {
        auto gone = all.lower_bound({.priority = 0, .arrival = random.below(50)});
        if (gone == all.end()) gone = all.begin();
        order.erase(gone->first);
        all.erase(gone);
      }
      const auto room = needs_of(random);
      const auto priority = random.chance(0.5)
                                ? std::optional(static_cast<std::int32_t>(random.below(3)) - 1)
                                : std::nullopt;
      const std::uint64_t even = random.below(2);
      const std::function<bool(const LanePlace&)> accepts = [&](const LanePlace& place) {
        return place.cls % 2 == even;
      };
      std::optional<ClassId> best;
      for (const auto& [place, needs] : all)
        if (!best && needs.fits_in(room) && accepts(place) &&
            (!priority || place.priority == *priority))
          best = place.cls;
      LaneSearch search{room, accepts, 100'000};
      const auto found = order.first_fit(priority, search);
      ASSERT_EQ(found ? std::optional(found->cls) : std::nullopt, best) << seed << " " << step;
      ASSERT_EQ(order.size(), all.size());
    }
  }
}

TEST(LaneOrderTest, ASearchWithoutStepsLeftHasFoundNothingAndSaysSo) {
  LaneOrder order;
  for (std::uint64_t i = 0; i < 100; ++i) order.insert({.arrival = i, .cls = i}, {});
  const std::function<bool(const LanePlace&)> accepts = [](const LanePlace& place) {
    return place.cls == 99;
  };
  LaneSearch search{{}, accepts, 10};
  EXPECT_FALSE(order.first_fit(std::nullopt, search));
  EXPECT_EQ(search.steps, 0);
}

}  // namespace
}  // namespace hostler::demand
