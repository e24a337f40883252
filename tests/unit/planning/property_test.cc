// Random worlds: what is written and read again has the same plan. Replay one with
// HOSTLER_PLAN_SEED=<seed>.

#include <gtest/gtest.h>

#include <cstdlib>

#include "core/planning/read.h"
#include "core/planning/write.h"
#include "tests/unit/planning/plan_text.h"
#include "tests/unit/scheduler/random_bounds.h"
#include "tests/unit/scheduler/random_scaling.h"

namespace hostler::planning {
namespace {

/// A random world with what the worlds of the scheduler's tests have none of.
Question random_question(std::uint64_t seed) {
  scheduler::RandomWorld world(seed);
  if (seed % 2 == 0) world.add_cards();
  Random& random = world.random;
  for (auto& pool : world.policy.pools) pool.sizes.min = std::min(pool.sizes.min, pool.sizes.max);
  for (auto& pool : world.policy.pools)
    pool.sizes.standby = std::min(pool.sizes.standby, pool.sizes.max);
  for (auto& pool : world.policy.pools) {
    if (random.chance(0.5)) pool.leases.emplace();
    pool.readiness = static_cast<model::Readiness>(random.below(4));
  }
  auto& snapshot = world.snapshot;
  snapshot.has_limits = random.chance(0.3);
  if (random.chance(0.5))
    snapshot.rests.push_back(
        {.hosts = static_cast<std::int64_t>(random.below(3)), .exchange = random.chance(0.5)});
  for (std::size_t i = 0; i < world.policy.pools.size(); ++i)
    snapshot.set_aside.push_back(static_cast<std::int64_t>(random.below(2)));
  for (auto& offering : snapshot.offerings) {
    if (random.chance(0.1)) offering.note = "what its \"hosts\" report";
    offering.unavailable = random.chance(0.1);
    offering.at_quota = random.chance(0.1);
    if (random.chance(0.2)) offering.quota_group = "vcpus of standard types";
    offering.can_stop = random.chance(0.3);
    if (random.chance(0.1)) offering.subnet = "net-1";
  }
  for (auto& host : snapshot.hosts) {
    if (host.phase == scheduler::HostPhase::kComing && random.chance(0.7))
      host.load.push_back({random.below(8), static_cast<std::uint32_t>(1 + random.below(3))});
    host.created -= std::chrono::nanoseconds(random.below(1'000'000'000));
    host.jobs_max = model::kJobsOnHostMax;
    if (host.offering < snapshot.offerings.size()) {
      const auto& offering = snapshot.offerings[host.offering];
      host.jobs_max =
          model::jobs_max_of(world.policy.pools[offering.pool], world.policy.types[offering.type]);
    }
    host.can_stop = random.chance(0.3);
    host.power_unknown = random.chance(0.1);
    host.can_wake = host.phase == scheduler::HostPhase::kStopped && random.chance(0.5);
    host.cordoned = random.chance(0.05);
    host.work_cancelled = random.chance(0.1);
    host.for_exchange = random.chance(0.1);
    host.ends = random.chance(0.1);
    host.unseen = host.phase == scheduler::HostPhase::kComing && random.chance(0.1);
  }
  for (auto& view : snapshot.classes) {
    view.kind = static_cast<model::WorkKind>(random.below(3));
    view.shape.exclusive = random.chance(0.3);
    if (random.chance(0.2)) view.shape.constraints.pools = {"default"};
    for (auto& turn : view.heads) turn.use = static_cast<double>(random.below(100)) / 7.0;
    std::sort(view.heads.begin(), view.heads.end());
    view.displaced = random.chance(0.1);
    if (snapshot.has_limits && random.chance(0.3))
      view.price.emplace(std::vector<demand::PriceBound::Share>{
          {.left = {.price_per_hour = {static_cast<std::int64_t>(random.below(2000))},
                    .vcpus = random.chance(0.5) ? 8 : demand::PriceBound::kAny.vcpus,
                    .gpus = random.chance(0.5) ? 3 : demand::PriceBound::kAny.gpus},
           .items = view.count}});
    if (random.chance(0.3)) view.shape.lasts = std::chrono::minutes(1 + random.below(40));
    if (!view.shape.exclusive || view.count < 2 || random.chance(0.3)) continue;
    view.shape.gang = {view.id + 1U, static_cast<std::uint32_t>(view.count), random.chance(0.3)};
    if (random.chance(0.2)) view.not_before = snapshot.now + std::chrono::seconds(30);
  }
  for (auto& host : snapshot.hosts)
    if (host.busy && random.chance(0.3))
      host.lent_until = snapshot.now + std::chrono::minutes(random.below(40));
  if (random.chance(0.3)) {
    scheduler::scale(world);
    for (auto& pool : world.policy.pools) {
      pool.scaling.up.policies = {
          {.value = 4, .is_percent = random.chance(0.5), .per = std::chrono::minutes(1)}};
      if (random.chance(0.3)) pool.sizes.stopped = 0, pool.sizes.created_max = 40;
    }
    return {world.policy, snapshot, Wall{1'700'000'000'000'000}};
  }
  if (random.chance(0.5))
    snapshot.bounds = scheduler::random_bounds(random, world.policy.pools.size(), snapshot.now);
  return {world.policy, snapshot, Wall{1'700'000'000'000'000}};
}

void check(std::uint64_t seed) {
  const Question question = random_question(seed);
  const std::string written = write_question(question);

  const Reading read = read_question(written);

  for (const Error& problem : read.problems) ADD_FAILURE() << seed << ": " << problem.message;
  ASSERT_TRUE(read.problems.empty());
  EXPECT_EQ(write_question(read.question), written) << "seed " << seed;
  EXPECT_EQ(text_of_plan(read.question), text_of_plan(question)) << "seed " << seed;
}

TEST(PropertyTest, SnapshotThatIsReadAgainHasTheSameTextAndTheSamePlan) {
  if (const char* only = std::getenv("HOSTLER_PLAN_SEED")) return check(std::stoull(only));
  for (std::uint64_t seed = 1; seed <= 500 && !HasFailure(); ++seed) check(seed);
}

}  // namespace
}  // namespace hostler::planning
