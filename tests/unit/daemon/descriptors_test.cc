#include "core/daemon/descriptors.h"

#include <gmock/gmock.h>

#include <cstdlib>

namespace hostler::daemon {
namespace {

using testing::HasSubstr;

config::Config site(std::size_t sets, bool tcp = false) {
  config::Config out;
  out.sets.resize(sets);
  if (tcp) out.access.tcp_address = "127.0.0.1";
  model::PoolPolicy pool;
  pool.sizes.max = 40;
  out.site.pools = {pool, pool};
  return out;
}

/// As the refusal says.
std::uint64_t needed(const config::Config& config) {
  const auto refused = share_descriptors(config, 10);
  if (refused) return 0;
  EXPECT_EQ(refused.error().code, Errc::kInvalidArgument);
  const std::string& text = refused.error().message;
  EXPECT_THAT(text, HasSubstr("may open 10 files"));
  const auto at = text.find("needs ");
  return at == std::string::npos ? 0 : std::strtoull(text.c_str() + at + 6, nullptr, 10);
}

TEST(DescriptorsTest, TheLimitThatIsNamedIsTheLowestThatSuffices) {
  for (const std::size_t sets : {0U, 1U, 2U, 30U}) {
    const auto config = site(sets, sets == 2);
    const auto need = needed(config);
    EXPECT_FALSE(share_descriptors(config, need - 1).has_value()) << sets;
    for (const auto limit : {need, need + 1, need + 1000}) {
      const auto shares = share_descriptors(config, limit);
      ASSERT_TRUE(shares.has_value()) << sets;
      EXPECT_GE(shares->connections, 4U);
      EXPECT_GE(shares->hosts, 4U);
      EXPECT_GE(shares->spool_files, 4U);
    }
  }
  EXPECT_LE(needed(site(1, true)), 128U);
}

TEST(DescriptorsTest, ClientsAndHostsNeverGetWhatTheSetsNeed) {
  for (std::uint64_t limit = 200; limit < 70'000; limit += limit / 7) {
    const auto few = share_descriptors(site(1), limit), many = share_descriptors(site(2), limit);
    ASSERT_TRUE(few && many);
    const auto taken = [](const DescriptorShares& shares) {
      return 2 * shares.spool_files + 4 * shares.connections + shares.hosts;
    };
    EXPECT_LT(taken(*many), taken(*few)) << limit;
    EXPECT_LT(taken(*few), limit) << limit;
  }
}

TEST(DescriptorsTest, AUsualLimitKeepsNobodyBack) {
  const auto config = site(3, true);
  const auto shares = share_descriptors(config, 65'536);
  ASSERT_TRUE(shares.has_value());
  EXPECT_EQ(shares->connections, 2000U);
  EXPECT_GT(shares->hosts, 50'000U);
  model::SitePolicy policy = config.site;
  bound_instances(policy, config, *shares);
  EXPECT_EQ(policy, config.site);
}

TEST(DescriptorsTest, OnlyPoolsThatMayHaveMoreHostsThanFilesGiveTheSiteACeiling) {
  const auto ceiling = [](std::int32_t pool_max) {
    auto config = site(2);
    config.site.pools[0].sizes.max = pool_max;
    const auto shares = share_descriptors(config, 20'000);
    if (!shares) return -1;
    model::SitePolicy policy = config.site;
    bound_instances(policy, config, *shares);
    return policy.ceilings.instances_max;
  };
  EXPECT_EQ(ceiling(2'000), 0);
  EXPECT_GT(ceiling(20'000), 2'000);
  EXPECT_LT(ceiling(20'000), 20'000);
}

TEST(DescriptorsTest, ClientsGetWhatNoPoolCanUse) {
  auto config = site(1);
  const auto beside_many = share_descriptors(config, 300);
  for (auto& pool : config.site.pools) pool.sizes.max = 3;
  const auto beside_few = share_descriptors(config, 300);
  ASSERT_TRUE(beside_many && beside_few);
  EXPECT_GT(beside_few->connections, beside_many->connections);
  model::SitePolicy policy = config.site;
  bound_instances(policy, config, *beside_few);
  EXPECT_EQ(policy, config.site) << "its six hosts can all be connected";
}

TEST(DescriptorsTest, NoMoreHostsAreMadeThanCanBeReached) {
  auto config = site(1);
  const auto shares = share_descriptors(config, 160);
  ASSERT_TRUE(shares.has_value());
  const auto ceiling = [&] {
    model::SitePolicy policy = config.site;
    bound_instances(policy, config, *shares);
    return policy.ceilings.instances_max;
  };
  const auto direct = ceiling();
  EXPECT_GT(direct, 0);
  EXPECT_LT(direct, static_cast<std::int32_t>(shares->hosts));
  config.sets[0].proxy.emplace();
  EXPECT_LE(ceiling(), direct / 2 + 1) << "two descriptors for each";
  config.site.ceilings.instances_max = 3;
  EXPECT_EQ(ceiling(), 3) << "the configuration has less";
}

}  // namespace
}  // namespace hostler::daemon
