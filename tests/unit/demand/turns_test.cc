#include "core/demand/turns.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "core/base/random.h"

namespace hostler::demand {
namespace {

using testing::ElementsAre;

model::WorkShape work_of(std::int32_t vcpus, std::int32_t priority = 0) {
  model::WorkShape out;
  out.needs.vcpus = vcpus;
  out.priority = priority;
  return out;
}

model::Resources vcpus_only(std::int32_t vcpus) {
  model::Resources out = Queue::kAnyRoom;
  out.vcpus = vcpus;
  return out;
}

/// A queue, and principals whose items cost 1 each.
struct TurnsTest : testing::Test {
  ClassId cls(std::int32_t vcpus, std::int32_t priority = 0) {
    const ClassId out = queue.intern(work_of(vcpus, priority));
    queue.set_price(out, {1});
    return out;
  }
  void push(ClassId to, PrincipalId principal, int count = 1) {
    for (int i = 0; i < count; ++i) {
      ++arrival;
      queue.push(to, {.arrival = arrival, .work = {arrival}, .since = Mono(Duration(arrival))},
                 principal);
      owner[arrival] = principal;
    }
  }
  /// Takes the next item, as a start does.
  PrincipalId take(ClassId from) {
    const PrincipalId out = owner[queue.pop(from).arrival];
    queue.set_key(out, queue.key(out) + 1);
    return out;
  }
  std::optional<ClassId> next(std::int32_t room = 1000) const {
    return queue.next([](const Queue::Class&) { return true; }, {}, vcpus_only(room));
  }
  /// The owners of the classes' items in the order of the turns that plans see.
  std::vector<PrincipalId> turns_of(ClassId cls) const {
    for (const ClassView& view : views_by_turns(queue, 1))
      if (view.id == cls) {
        std::vector<PrincipalId> out;
        for (const Turn& turn : view.heads) out.push_back(owner.at(turn.arrival));
        return out;
      }
    return {};
  }

  Queue queue;
  std::uint64_t arrival = 0;
  std::map<std::uint64_t, PrincipalId> owner;
};

TEST_F(TurnsTest, WithinAClassTheOneWhoHasUsedLeastIsNext) {
  const ClassId a = cls(1);
  push(a, 0, 5);
  push(a, 1, 3);
  std::vector<PrincipalId> taken;
  for (int i = 0; i < 8; ++i) taken.push_back(take(a));
  EXPECT_THAT(taken, ElementsAre(0, 1, 0, 1, 0, 1, 0, 0));
}

TEST_F(TurnsTest, TheNextOfAllClassesIsOfTheOneWhoHasUsedLeast) {
  const ClassId a = cls(1), b = cls(2);
  push(a, 0, 5);
  push(b, 1, 2);
  EXPECT_EQ(next(), a) << "equal use: it came first";
  queue.set_key(0, 1);
  EXPECT_EQ(next(), b);
  EXPECT_EQ(next(1), a) << "there is no room for the other";
  EXPECT_EQ(next(0), std::nullopt);
  queue.set_key(1, 2);
  EXPECT_EQ(next(), a);
}

TEST_F(TurnsTest, AHigherPriorityGoesFirstWhateverItsOwnerHasUsed) {
  const ClassId urgent = cls(1, 5), other = cls(1);
  push(other, 1);
  push(urgent, 0);
  queue.set_key(0, 1e9);
  EXPECT_EQ(next(), urgent);
  EXPECT_EQ(views_by_turns(queue, 1).front().id, urgent);
}

TEST_F(TurnsTest, PlansSeeTheTurnsInWhichItemsAreTaken) {
  const ClassId a = cls(1);
  push(a, 0, 40);
  push(a, 1, 2);
  queue.set_key(1, 1);
  const auto seen = turns_of(a);
  ASSERT_EQ(seen.size(), 32U);
  EXPECT_THAT(std::vector(seen.begin(), seen.begin() + 7), ElementsAre(0, 0, 1, 0, 1, 0, 0));
}

TEST_F(TurnsTest, MoreShapesGiveNobodyMoreTurns) {
  std::vector<ClassId> many;
  for (int i = 1; i <= 10; ++i) push(many.emplace_back(cls(i)), 0, 100);
  const ClassId one = cls(99);
  push(one, 1, 100);
  // Of the first 20 turns of all classes together each has half.
  std::vector<std::pair<Turn, ClassId>> turns;
  for (const ClassView& view : views_by_turns(queue, 1))
    for (const Turn& turn : view.heads) turns.emplace_back(turn, view.id);
  std::ranges::sort(turns, [](const auto& a, const auto& b) { return a.first < b.first; });
  EXPECT_EQ(std::count_if(turns.begin(), turns.begin() + 20,
                          [&](const auto& turn) { return turn.second == one; }),
            10);
}

TEST_F(TurnsTest, AClassWaitsAsLongAsItsOldestItemWhoseverTurnIsNext) {
  const ClassId a = cls(1);
  push(a, 0);
  push(a, 1);
  queue.set_key(0, 5);
  EXPECT_EQ(views_by_turns(queue, 1).at(0).oldest, Mono(Duration(1)));
  EXPECT_EQ(queue.next_item(a).arrival, 2U);
}

TEST_F(TurnsTest, APositionCountsTurnsOfOthersAndEarlierItemsOfItsOwner) {
  const ClassId a = cls(1), b = cls(2);
  push(a, 0, 100'000);
  push(b, 1, 10);
  const auto ahead = [&](ClassId of, std::uint64_t item, PrincipalId principal) {
    return queue.ahead({{of, item, principal}}, 1).at(0);
  };
  EXPECT_LE(ahead(b, 100'001, 1), 1U);
  EXPECT_EQ(ahead(b, 100'010, 1), 18U) << "nine of its own, and nine turns of the other";
  EXPECT_EQ(ahead(a, 100'000, 0), 100'009U);
  queue.set_key(0, 50);
  EXPECT_EQ(ahead(b, 100'010, 1), 9U);
  EXPECT_EQ(ahead(a, 1, 0), 10U) << "all of the other come before";
}

TEST_F(TurnsTest, OfManyPrincipalsEachClassSeesTheFirst) {
  std::vector<ClassId> all;
  for (int i = 1; i <= 20; ++i) all.push_back(cls(i));
  for (PrincipalId p = 0; p < 1000; ++p) {
    for (int i = 0; i < 5; ++i) push(all[(p * 7 + static_cast<PrincipalId>(i)) % 20], p);
    queue.set_key(p, (p * 37) % 1000);
  }
  const ClassId rare = cls(99);
  push(rare, 27, 3);  // 999 * 1000 / 1000: the last of all
  queue.set_key(27, 5000);
  const auto views = views_by_turns(queue, 1);
  ASSERT_EQ(views.size(), 21U);
  EXPECT_EQ(views.back().id, rare);
  for (const ClassView& view : views) {
    ASSERT_FALSE(view.heads.empty());
    EXPECT_TRUE(std::is_sorted(view.heads.begin(), view.heads.end()));
    std::set<PrincipalId> owners;
    for (const Turn& turn : view.heads) owners.insert(owner.at(turn.arrival));
    EXPECT_EQ(owners.size(), view.id == rare ? 1 : view.heads.size());
    EXPECT_EQ(view.heads.size(), view.id == rare ? 1 : 32);
  }
}

// Against a queue that looks at every item.
TEST_F(TurnsTest, ChoosesAsAnExhaustiveSearchWould) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    Random random(seed);
    queue = {};
    owner.clear();
    arrival = 0;
    struct One {
      ClassId cls;
      PrincipalId principal;
    };
    std::map<std::uint64_t, One> items;
    const auto classes = 1 + static_cast<std::int32_t>(random.below(40));
    const auto principals = 1 + static_cast<PrincipalId>(random.below(40));
    const auto add = [&] {
      const ClassId to =
          cls(1 + static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(classes))),
              static_cast<std::int32_t>(random.below(3)));
      const auto who = static_cast<PrincipalId>(random.below(principals));
      push(to, who);
      items[arrival] = {to, who};
    };
    for (int i = 0; i < 300; ++i) add();
    for (int step = 0; step < 300; ++step) {
      if (random.chance(0.4)) add();
      if (random.chance(0.3))
        queue.set_key(static_cast<PrincipalId>(random.below(principals)),
                      static_cast<double>(random.below(5)));
      if (random.chance(0.2) && !items.empty()) {
        auto at = items.lower_bound(random.below(arrival));
        if (at == items.end()) at = items.begin();
        ASSERT_TRUE(queue.erase(at->second.cls, at->first, at->second.principal));
        items.erase(at);
      }
      const auto room =
          static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(classes + 1)));
      const std::pair<const std::uint64_t, One>* best = nullptr;
      const auto rank = [&](const auto& item) {
        return std::tuple(-queue.at(item.second.cls).shape.priority,
                          queue.key(item.second.principal), item.first);
      };
      for (const auto& item : items)
        if (queue.at(item.second.cls).shape.needs.vcpus <= room &&
            (best == nullptr || rank(item) < rank(*best)))
          best = &item;
      const auto found = next(room);
      ASSERT_EQ(found.has_value(), best != nullptr) << seed << " " << step;
      if (!found) continue;
      ASSERT_EQ(*found, best->second.cls) << seed << " " << step;
      ASSERT_EQ(queue.pop(*found).arrival, best->first) << seed << " " << step;
      items.erase(best->first);
    }
    ASSERT_EQ(queue.size(), items.size());
    std::size_t seen = 0;
    for (const ClassView& view : views_by_turns(queue, 1)) {
      seen += view.count;
      ASSERT_EQ(view.heads.size(), std::min<std::uint64_t>(32, view.count)) << "few principals";
      ASSERT_TRUE(std::is_sorted(view.heads.begin(), view.heads.end()));
    }
    ASSERT_EQ(seen, items.size());
  }
}

}  // namespace
}  // namespace hostler::demand
