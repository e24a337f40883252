#include <gtest/gtest.h>

#include "core/dispatch/dispatcher.h"

namespace hostler::dispatch {
namespace {

model::SitePolicy policy() {
  model::SitePolicy out;
  out.sets.emplace_back().name = "s";
  auto& type = out.types.emplace_back();
  type.name = "small";
  type.resources = {.vcpus = 4, .gpus = 0, .ram = std::int64_t{8} << 30, .scratch = 0};
  auto& pool = out.pools.emplace_back();
  pool.name = "p";
  pool.sets = {"s"};
  pool.types = {"small"};
  return out;
}

Result<std::vector<model::WorkId>> submit(Dispatcher& dispatcher, const std::string& digest) {
  model::WorkItem job;
  job.shape.needs = {.vcpus = 1, .gpus = 0, .ram = 1, .scratch = 0};
  job.client_key = "key";
  job.client_digest = digest;
  job.body = std::make_shared<const std::string>("{}");
  const auto out = dispatcher.apply(Submit{1, "ann", {job}}, {});
  for (const auto& effect : out.effects)
    if (const auto* reply = std::get_if<Reply>(&effect)) return reply->result;
  return fail(Errc::kInternal, "no answer");
}

TEST(ForgottenJobsTest, AKeyNamesItsJobUntilTheStoreForgetsIt) {
  Dispatcher dispatcher(policy(), {}, {});
  const auto first = submit(dispatcher, "one");
  ASSERT_TRUE(first);
  EXPECT_EQ(submit(dispatcher, "one").value(), first.value());
  EXPECT_EQ(submit(dispatcher, "two").error().code, Errc::kConflict);

  dispatcher.apply(WorkForgotten{first.value()}, {});

  const auto second = submit(dispatcher, "two");
  ASSERT_TRUE(second) << second.error().message;
  EXPECT_NE(second.value(), first.value());
}

}  // namespace
}  // namespace hostler::dispatch
