// A driver that was built against a later header, ABI 1.1, made up: its structs are longer than
// this host's, and those that it gets are shorter than its own. See grown/.
#include "tests/unit/plugin_host/chaos_set.h"

namespace hostler::plugin_host {
namespace {

using ::testing::SizeIs;

static_assert(HOSTLER_ABI_MINOR == 0, "the made-up 1.1 is the next one");

TEST(GrowthTest, ADriverOf11WorksInThisHost) {
  ChaosSet set("", {}, "fake_grown");
  ASSERT_TRUE(set.opened()) << set.opened().error().message;
  EXPECT_EQ(load_fake("fake_grown")->table().abi_minor, 1U);
  EXPECT_EQ(set.opened()->account_id, "account-1");

  const auto created = set.create();
  ASSERT_TRUE(created) << created.error().message;
  EXPECT_EQ(created->id, "i-key-1");
  const auto listed = set.list();
  ASSERT_TRUE(listed);
  EXPECT_THAT(*listed, SizeIs(1));
  Awaited<DriverSet::Nothing> verified, tagged;
  set->verify_host_key({"i-1", "ssh-ed25519", "blob"}, kPatience, verified.done());
  EXPECT_TRUE(verified.get());
  set->set_tags({.id = "i-1"}, kPatience, tagged.done());
  EXPECT_EQ(tagged.get().error().cls, model::CloudErrorClass::kNotFound) << "errors arrive, too";
  EXPECT_EQ(set->health().broken_rules, 0U);
}

std::string seen_by(const std::string& driver) {
  ChaosSet set("group_of_growth", {}, driver);
  Awaited<std::string> group;
  set->quota_group(ChaosSet::request().type, kPatience, group.done());
  const auto result = group.get();
  return result ? *result : result.error().message;
}

TEST(GrowthTest, ADriverOf11SeesThatThisHostIsOlder) {
  EXPECT_EQ(seen_by("fake_grown"), "neither op nor request");
  EXPECT_EQ(seen_by("fake_chaos"), "this is 1.0");
}

}  // namespace
}  // namespace hostler::plugin_host
