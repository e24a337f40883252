// The limits that a driver reports are kept by the host: the create is refused before it is sent.
#include "core/plugin_host/limits.h"

#include "tests/unit/plugin_host/chaos_set.h"

namespace hostler::plugin_host {
namespace {

using ::testing::HasSubstr;

TEST(LimitsTest, ACreateBeyondALimitIsRefusedWithWhatToDo) {
  model::CreateRequest request;
  request.user_data = "#!/bin/sh\n";
  request.name_hint = "hostler-default-h-7";
  request.tags = {{"hostler-key", "0123456789"}, {"colour", "red"}};
  model::SetInfo info;
  const auto refused = [&] { return beyond_limits(request, info); };
  EXPECT_EQ(refused(), "") << "0 is not said";

  info.user_data_max_bytes = 10;
  info.tags_max = 2;
  info.tag_key_max = 11;
  info.tag_value_max = 10;
  info.name_max = 19;
  EXPECT_EQ(refused(), "") << "all limits are kept exactly";

  info.user_data_max_bytes = 9;
  EXPECT_THAT(refused(), HasSubstr("user data of 10 bytes, the set takes at most 9"));
  info.user_data_max_bytes = 0;
  info.tags_max = 1;
  EXPECT_THAT(refused(), HasSubstr("2 tags, the set takes at most 1"));
  info.tags_max = 0;
  info.tag_key_max = 10;
  EXPECT_THAT(refused(), HasSubstr("the tag name hostler-key of 11 bytes"));
  info.tag_key_max = 0;
  info.tag_value_max = 9;
  EXPECT_THAT(refused(), HasSubstr("the tag hostler-key has a value of 10 bytes"));
  info.tag_value_max = 0;
  info.name_max = 18;
  EXPECT_THAT(refused(), HasSubstr("a name of 19 bytes"));
  info.name_max = 0;
  info.user_data = false;
  EXPECT_THAT(refused(), HasSubstr("takes no user data"));
}

TEST(LimitsTest, TheDriverIsNotAskedForSuchACreate) {
  ChaosSet set("few_tags");
  auto request = ChaosSet::request();
  request.tags = {{"a", "1"}, {"b", "2"}};
  Awaited<model::ListedInstance> created;

  set->create(request, kPatience, {}, created.done());

  const auto result = created.get();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().cls, model::CloudErrorClass::kInvalid);
  EXPECT_THAT(result.error().message, HasSubstr("create: 2 tags, the set takes at most 1"));
  EXPECT_FALSE(result.error().outcome_unknown);
  EXPECT_TRUE(set.list()->empty());
}

}  // namespace
}  // namespace hostler::plugin_host
