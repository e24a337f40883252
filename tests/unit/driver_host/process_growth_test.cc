// Growth of the ABI across the wire: hostlerd (this program), hostler-driver-host and the driver
// are of ABI 1.0, or of a made-up 1.1 (tests/unit/plugin_host/grown), in every mixture. hostlerd
// and hostler-driver-host differ while a new version is installed and the old hostlerd still runs.
// This file is in two programs: one of 1.0 and one of 1.1.
#include <memory_resource>

#include "core/driver_host/wire/decoder.h"
#include "core/driver_host/wire/encoder.h"
#include "tests/unit/plugin_host/chaos_set.h"

namespace hostler::plugin_host {
namespace {

using ::testing::SizeIs;

struct Mixture {
  const char* program;  ///< hostler-driver-host.
  const char* driver;
};

class ProcessGrowthTest : public testing::TestWithParam<Mixture> {};

TEST_P(ProcessGrowthTest, CallsRecordsAndErrorsCross) {
  ChaosSet set("", {.program = GetParam().program}, GetParam().driver);
  ASSERT_TRUE(set.opened()) << set.opened().error().message;
  EXPECT_EQ(set.opened()->account_id, "account-1");

  const auto created = set.create();
  ASSERT_TRUE(created) << created.error().message;
  EXPECT_EQ(created->id, "i-key-1");
  const auto listed = set.list();
  ASSERT_TRUE(listed) << listed.error().message;
  EXPECT_THAT(*listed, SizeIs(1));
  Awaited<DriverSet::Nothing> verified, tagged, destroyed;
  set->verify_host_key({"i-1", "ssh-ed25519", "blob"}, kPatience, verified.done());
  EXPECT_TRUE(verified.get());
  set->set_tags({.id = "i-1"}, kPatience, tagged.done());
  EXPECT_EQ(tagged.get().error().cls, model::CloudErrorClass::kNotFound);
  model::DestroyRequest destroy;
  destroy.id = "i-key-1";
  set->destroy(destroy, kPatience, destroyed.done());
  EXPECT_TRUE(destroyed.get());
  EXPECT_EQ(set->health().broken_rules, 0U) << set->health().last_broken_rule;
}

INSTANTIATE_TEST_SUITE_P(All, ProcessGrowthTest,
                         testing::Values(Mixture{HOSTLER_DRIVER_HOST, "fake_chaos"},
                                         Mixture{HOSTLER_DRIVER_HOST, "fake_grown"},
                                         Mixture{HOSTLER_OTHER_DRIVER_HOST, "fake_chaos"},
                                         Mixture{HOSTLER_OTHER_DRIVER_HOST, "fake_grown"}));

/// What the driver finds of 1.1 in the host.
std::string seen_by(const std::string& driver, const char* program) {
  ChaosSet set("group_of_growth", {.program = program}, driver);
  Awaited<std::string> group;
  set->quota_group(ChaosSet::request().type, kPatience, group.done());
  const auto result = group.get();
  return result ? *result : result.error().message;
}

TEST(ProcessGrowthTest, ADriverOf10SeesNothingOf11) {
  EXPECT_EQ(seen_by("fake_chaos", HOSTLER_DRIVER_HOST), "this is 1.0");
  EXPECT_EQ(seen_by("fake_chaos", HOSTLER_OTHER_DRIVER_HOST), "this is 1.0");
}

#if HOSTLER_ABI_MINOR == 0

TEST(ProcessGrowthTest, ADriverOf11SeesWhatIsOlder) {
  EXPECT_EQ(seen_by("fake_grown", HOSTLER_DRIVER_HOST), "neither op nor request");
  EXPECT_EQ(seen_by("fake_grown", HOSTLER_OTHER_DRIVER_HOST), "op")
      << "the request is of hostlerd, the op of the driver's process";
}

#else

TEST(ProcessGrowthTest, ADriverOf11SeesWhatIsNew) {
  EXPECT_EQ(seen_by("fake_grown", HOSTLER_DRIVER_HOST), "op and request");
  EXPECT_EQ(seen_by("fake_grown", HOSTLER_OTHER_DRIVER_HOST), "neither op nor request")
      << "an older hostler-driver-host skips the new field";
}

TEST(ProcessGrowthTest, AFieldOf11CrossesWithItsValue) {
  hostler_instance instance{};
  instance.struct_size = sizeof instance;
  instance.id = HOSTLER_STR("i-1");
  instance.grown = 7;
  std::string bytes;
  driver_host::Encoder(bytes).growable(instance);
  std::pmr::monotonic_buffer_resource memory;
  driver_host::Decoder decoder(bytes, memory);

  const auto read = decoder.growable<hostler_instance>();

  EXPECT_TRUE(decoder.finished());
  EXPECT_EQ(read.grown, 7U);
  EXPECT_EQ(read.struct_size, sizeof read);
}

#endif

}  // namespace
}  // namespace hostler::plugin_host
