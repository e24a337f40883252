// The host checks each rule: a call that breaks one ends with an error that names it.
#include <thread>

#include "tests/unit/plugin_host/chaos_set.h"

namespace hostler::plugin_host {
namespace {

using model::CloudErrorClass;
using ::testing::HasSubstr;

struct Fault {
  const char* word;
  const char* rule;  ///< Begins the message, after driver and function.
};

class BrokenCreate : public ::testing::TestWithParam<Fault> {};

TEST_P(BrokenCreate, IsAnErrorThatNamesTheRule) {
  ChaosSet set(GetParam().word);

  const auto created = set.create();

  ASSERT_FALSE(created);
  EXPECT_EQ(created.error().cls, CloudErrorClass::kMisbehaving);
  EXPECT_THAT(created.error().message,
              HasSubstr(std::string("driver 'fake_chaos': create: ") + GetParam().rule));
  EXPECT_TRUE(created.error().outcome_unknown) << "the driver may have created an instance";
  EXPECT_EQ(set->health().broken_rules, 1U);
  EXPECT_THAT(set->health().last_broken_rule, HasSubstr(GetParam().rule));
}

INSTANTIATE_TEST_SUITE_P(
    Each, BrokenCreate,
    ::testing::Values(Fault{"wrong_size", "R15: "}, Fault{"huge_size", "R15: "},
                      Fault{"embedded_nul", "R19: "}, Fault{"not_utf8", "R19: "},
                      Fault{"null_text", "R19: "}, Fault{"bad_tag", "R19: a tag's value"},
                      Fault{"long_id", "limit: id has 256 bytes, at most 255 are taken"},
                      Fault{"long_zone", "limit: zone has 256 bytes, at most 255 are taken"},
                      Fault{"huge_name", "limit: remote_user has 104857600 bytes"},
                      Fault{"many_tags", "limit: a record with too many tags"},
                      Fault{"far_future", "R6: created_unix_ns is before 1970 or after 2099"},
                      Fault{"huge_cost", "R6: a price above 1,000,000 an hour"},
                      Fault{"no_id", "R28: "}, Fault{"two_ids", "R28: "}, Fault{"nothing", "R28: "},
                      Fault{"other_key", "R32: "}, Fault{"positive_status", "R26: "},
                      Fault{"complete_twice", "R26: "}, Fault{"return_after_complete", "R26: "},
                      Fault{"keep_cancel", "R29: "}, Fault{"throw", "R45: "}),
    [](const auto& fault) { return std::string(fault.param.word); });

TEST(DriverRulesTest, AnExceptionThatLeavesSetCloseIsCaught) {
  ChaosSet set("throw_in_set_close");
  ASSERT_TRUE(set.opened()) << set.opened().error().message;

  set.close();
}

TEST(DriverRulesTest, ErrorWithoutMessageKeepsItsClassAndNamesTheRule) {
  ChaosSet set("no_message");

  const auto created = set.create();

  ASSERT_FALSE(created);
  EXPECT_EQ(created.error().cls, CloudErrorClass::kQuota);
  EXPECT_THAT(created.error().message, HasSubstr("R22: QUOTA without a message"));
  EXPECT_EQ(set->health().broken_rules, 1U);
}

TEST(DriverRulesTest, UnknownStatusIsReadAsInternal) {
  ChaosSet set("unknown_status");

  const auto created = set.create();

  ASSERT_FALSE(created);
  EXPECT_EQ(created.error().cls, CloudErrorClass::kInternal);
  EXPECT_THAT(created.error().message, HasSubstr("something new (the unknown status -77)"));
  EXPECT_EQ(set->health().broken_rules, 0U);
}

TEST(DriverRulesTest, UnknownStatesFlagsAndRecordsAreIgnored) {
  ChaosSet set("unknown_values");

  const auto created = set.create();

  ASSERT_TRUE(created) << created.error().message;
  EXPECT_EQ(created->state, model::CloudState::kUnknown);
  EXPECT_EQ(set->health().broken_rules, 0U);
}

TEST(DriverRulesTest, ErrorArrivesWithAllFieldsAndIsPrintable) {
  ChaosSet set("quota");

  const auto created = set.create();

  ASSERT_FALSE(created);
  const auto& error = created.error();
  EXPECT_EQ(error.cls, CloudErrorClass::kQuota);
  using namespace model::scope;
  EXPECT_EQ(error.scope, kGroup | kZone | kType | kMarket | kOperation) << "a bit is not known";
  EXPECT_EQ(error.zone, "z1");
  EXPECT_TRUE(error.outcome_unknown);
  EXPECT_EQ(error.retry_after, std::optional<Duration>(1500ms));
  EXPECT_EQ(error.quota_limit, 10);
  EXPECT_EQ(error.provider_code, "VcpuLimit");
  EXPECT_EQ(error.message.find('\n'), std::string::npos);
  EXPECT_THAT(error.message, HasSubstr("(VcpuLimit, 10 of 10 used)")) << "the provider's words";
}

TEST(DriverRulesTest, TooManyRecordsEndTheOperation) {
  ChaosSet set("too_many");

  const auto listed = set.list();

  ASSERT_FALSE(listed);
  EXPECT_EQ(listed.error().cls, CloudErrorClass::kMisbehaving);
  EXPECT_THAT(listed.error().message, HasSubstr("limit: more than 100000 records"));
}

TEST(DriverRulesTest, RecordsOfManyBytesEndTheOperationBeforeTheyFillTheMemory) {
  ChaosSet set("gigabytes");

  const auto listed = set.list();

  ASSERT_FALSE(listed);
  EXPECT_EQ(listed.error().cls, CloudErrorClass::kMisbehaving);
  EXPECT_THAT(listed.error().message,
              HasSubstr("limit: more than 268435456 bytes in the records of one call"));
}

TEST(DriverRulesTest, ListThatWasCancelledIsNotTakenForComplete) {
  ChaosSet set("ignores_stop");

  const auto listed = set.list(10ms);

  ASSERT_FALSE(listed);
  EXPECT_EQ(listed.error().cls, CloudErrorClass::kTimeout);
}

TEST(DriverRulesTest, UseOfAnEndedOperationIsCountedAndChangesNothing) {
  for (const char* word : {"late_twice", "late_emit"}) {
    ChaosSet set(word);

    const auto created = set.create();
    while (set->health().broken_rules == 0) std::this_thread::yield();

    EXPECT_TRUE(created || created.error().cls == CloudErrorClass::kMisbehaving);
    EXPECT_THAT(set->health().last_broken_rule, HasSubstr("R26: ")) << word;
  }
}

model::CloudResult<std::string> group_of(const char* word) {
  ChaosSet set(word);
  Awaited<std::string> group;
  set->quota_group(ChaosSet::request().type, kPatience, group.done());
  return group.get();
}

TEST(DriverRulesTest, ATypeHasOneQuotaGroupAtMost) {
  EXPECT_EQ(group_of(""), "p.small");
  EXPECT_EQ(group_of("group_none"), "") << "without a record there is no group";

  const auto two = group_of("group_two");
  ASSERT_FALSE(two);
  EXPECT_THAT(two.error().message, HasSubstr("group: R34: OK with 2 quota groups"));
}

// Bug: a longer name was cut without a word, so that two groups became one.
TEST(DriverRulesTest, AQuotaGroupOfMoreThan63BytesIsRefusedAndNotCut) {
  EXPECT_EQ(group_of("group of 63"), std::string(63, 'g'));

  const auto too_long = group_of("group of 64");
  ASSERT_FALSE(too_long);
  EXPECT_THAT(too_long.error().message,
              HasSubstr("group: limit: a quota group's name of more than 63 bytes"));
}

TEST(DriverRulesTest, OpeningNeedsASetAndItsInfo) {
  const std::vector<Fault> faults = {{"open_without_set", "set_open: R18: "},
                                     {"open_pending", "set_open: R26: "},
                                     {"info_none", "set_info: R34: "},
                                     {"info_two", "set_info: R34: "}};
  for (const auto& fault : faults) {
    const ChaosSet set(fault.word);

    ASSERT_FALSE(set.opened()) << fault.word;
    EXPECT_EQ(set.opened().error().cls, CloudErrorClass::kMisbehaving);
    EXPECT_THAT(set.opened().error().message, HasSubstr(fault.rule));
  }
}

}  // namespace
}  // namespace hostler::plugin_host
