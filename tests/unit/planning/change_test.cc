#include "core/planning/change.h"

#include <gtest/gtest.h>

#include "core/planning/read.h"
#include "tests/unit/planning/plan_text.h"

namespace hostler::planning {
namespace {

Question idle_hosts() {
  Reading read = read_question(R"({
    "version": 1,
    "types": [{"name": "small", "price": 0.05}, {"name": "large", "price": 0.2}],
    "sets": [{"name": "west"}],
    "pools": [{"name": "default", "max": 3, "idle_timeout": "1h"}],
    "headroom": {"site": {"destroys": 1}},
    "offerings": [
      {"id": "s", "pool": "default", "set": "west", "type": "small", "vcpus": 2, "ram": "4GiB", "price_per_hour": 0.05},
      {"id": "l", "pool": "default", "set": "west", "type": "large", "vcpus": 8, "ram": "8GiB", "price_per_hour": 0.2}],
    "hosts": [
      {"id": "h-1", "pool": "default", "offering": "s", "phase": "ready", "idle_for": "2h", "age": "2h"},
      {"id": "h-2", "pool": "default", "offering": "l", "phase": "ready", "idle_for": "30m", "age": "2h"},
      {"id": "h-3", "pool": "default", "offering": "l", "phase": "ready", "idle_for": "20m", "age": "2h"}]
  })");
  for (const Error& problem : read.problems) ADD_FAILURE() << problem.message;
  for (auto& pool : read.question.policy.pools) {
    pool.sets = {"west"};
    pool.types = {"small", "large"};
  }
  return read.question;
}

std::vector<std::string> would_go(const Question& now, const model::SitePolicy& fresh) {
  std::vector<std::string> out;
  for (const auto& one : shutdowns_by(now, fresh)) out.push_back(one.host.text());
  return out;
}

TEST(ChangeTest, HostsThatOnlyTheNewPolicyEndsWouldGo) {
  const Question now = idle_hosts();
  model::SitePolicy fresh = now.policy;
  EXPECT_EQ(would_go(now, fresh), std::vector<std::string>{}) << "h-1 goes anyway";

  fresh.pools[0].idle_timeout = std::chrono::minutes(10);
  EXPECT_EQ(would_go(now, fresh), (std::vector<std::string>{"h-2", "h-3"}))
      << "of all decisions, though one ends one host";
}

TEST(ChangeTest, TypesKeepTheirOfferingsWhereverTheyAreInTheNewMenu) {
  const Question now = idle_hosts();
  model::SitePolicy fresh = now.policy;
  std::swap(fresh.types[0], fresh.types[1]);
  fresh.types[0].price_per_hour = {300'000};
  const Question after = after_reload(now, fresh);

  EXPECT_EQ(after.snapshot.offerings[1].type, 0U);
  EXPECT_EQ(after.snapshot.offerings[1].price_per_hour.value, 300'000);
  EXPECT_EQ(after.snapshot.hosts[1].offering, 1U);
}

TEST(ChangeTest, TypeThatLeavesThePoolLeavesTheMenu) {
  const Question now = idle_hosts();
  model::SitePolicy fresh = now.policy;
  fresh.pools[0].types = {"large"};
  const Question after = after_reload(now, fresh);

  ASSERT_EQ(after.snapshot.offerings.size(), 1U);
  EXPECT_EQ(after.snapshot.hosts[0].offering, UINT32_MAX);
  EXPECT_EQ(after.snapshot.hosts[1].offering, 0U);
}

TEST(ChangeTest, NewPoolsAndOfferedTypesAreThere) {
  Question now = idle_hosts();
  now.policy.types[1].only_in = "west";
  model::SitePolicy fresh = now.policy;
  fresh.types.pop_back();
  fresh.pools.push_back(fresh.pools[0]);
  fresh.pools.back().name = "other";
  fresh.pools[0].types = {};
  fresh.pools[0].selector.emplace();
  const Question after = after_reload(now, fresh);

  EXPECT_EQ(after.snapshot.pools.size(), 2U);
  EXPECT_EQ(after.policy.types[after.snapshot.offerings[1].type].name, "large");
}

TEST(ChangeTest, WhatAnExpressionGaveIsNotSaidOfAnother) {
  Question now = idle_hosts();
  now.policy.pools[0].sizes.texts.max = "a";
  now.snapshot.bounds = {{{.of = scheduler::BoundOf::kStartedMax,
                           .source = scheduler::kExpressionSource,
                           .number = 2,
                           .reason = {},
                           .until = {}}}};
  model::SitePolicy fresh = now.policy;
  EXPECT_EQ(after_reload(now, fresh).snapshot.bounds, now.snapshot.bounds);
  fresh.pools[0].sizes.texts.max = "b";
  EXPECT_TRUE(after_reload(now, fresh).snapshot.bounds[0].empty());
}

TEST(ChangeTest, HostsThatOnlyTheNewPolicyDrainsWouldGo) {
  Question now = idle_hosts();
  now.policy.pools[0].scaling.drain.emplace();
  model::SitePolicy fresh = now.policy;
  fresh.pools[0].idle_timeout = std::chrono::minutes(10);
  EXPECT_EQ(would_go(now, fresh), (std::vector<std::string>{"h-2", "h-3"}));
}

}  // namespace
}  // namespace hostler::planning
