#include "errors.h"

#include <gtest/gtest.h>

#include "meanings.h"
#include "tests/unit/driver_call/call.h"

namespace hostler::ec2::test {
namespace {

struct Case {
  const char *code, *text;
  hostler_status status;
  std::uint32_t scope;
};

TEST(Ec2Errors, HaveTheMeaningOfTheirCode) {
  const Case cases[] = {
      {"InsufficientInstanceCapacity", "", HOSTLER_E_CAPACITY,
       HOSTLER_SCOPE_TYPE | HOSTLER_SCOPE_ZONE},
      {"Server.InsufficientInstanceCapacity", "", HOSTLER_E_CAPACITY,
       HOSTLER_SCOPE_TYPE | HOSTLER_SCOPE_ZONE},
      {"InsufficientFreeAddressesInSubnet", "", HOSTLER_E_CAPACITY, HOSTLER_SCOPE_SUBNET},
      {"InvalidParameterValue", "Not sufficient free IPv4 addresses in subnet", HOSTLER_E_CAPACITY,
       HOSTLER_SCOPE_SUBNET},
      {"SpotMaxPriceTooLow", "", HOSTLER_E_CAPACITY,
       HOSTLER_SCOPE_TYPE | HOSTLER_SCOPE_ZONE | HOSTLER_SCOPE_MARKET},
      {"VcpuLimitExceeded", "", HOSTLER_E_QUOTA, HOSTLER_SCOPE_GROUP},
      {"MaxSpotInstanceCountExceeded", "", HOSTLER_E_QUOTA,
       HOSTLER_SCOPE_GROUP | HOSTLER_SCOPE_MARKET},
      {"InstanceLimitExceeded", "", HOSTLER_E_QUOTA, HOSTLER_SCOPE_ACCOUNT | HOSTLER_SCOPE_MARKET},
      {"RequestLimitExceeded", "", HOSTLER_E_RATE_LIMIT, HOSTLER_SCOPE_OPERATION},
      {"Throttling", "", HOSTLER_E_RATE_LIMIT, HOSTLER_SCOPE_OPERATION},
      {"Unsupported", "", HOSTLER_E_UNSUPPORTED, HOSTLER_SCOPE_TYPE | HOSTLER_SCOPE_ZONE},
      {"AuthFailure", "", HOSTLER_E_AUTH, 0},
      {"InvalidClientTokenId", "", HOSTLER_E_AUTH, 0},
      {"RequestExpired", "", HOSTLER_E_AUTH, 0},
      {"UnauthorizedOperation", "", HOSTLER_E_AUTH, HOSTLER_SCOPE_OPERATION},
      {"InvalidAMIID.NotFound", "", HOSTLER_E_NOT_FOUND, HOSTLER_SCOPE_IMAGE},
      {"InvalidSubnetID.NotFound", "", HOSTLER_E_NOT_FOUND, HOSTLER_SCOPE_SUBNET},
      {"InvalidGroup.NotFound", "", HOSTLER_E_NOT_FOUND, 0},
      {"InvalidParameterValue", "Invalid value 'x' for InstanceType", HOSTLER_E_INVALID, 0},
      {"IdempotentParameterMismatch", "", HOSTLER_E_CONFLICT, 0},
      {"InternalError", "", HOSTLER_E_TRANSIENT, 0},
      {"NeverSeenBefore", "", HOSTLER_E_TRANSIENT, 0}};
  for (const Case& one : cases) {
    driver::test::Call call;
    const Refused refused(400, one.code, one.text, "");
    EXPECT_EQ(call.run([&] {
      throw refusal_error(refused, "do it", {"g", "z", "subnet-1", "ami-1"});
    }),
              one.status)
        << one.code;
    EXPECT_EQ(call.error.scope, one.scope) << one.code;
    EXPECT_EQ(call.texts[HOSTLER_TEXT_PROVIDER_CODE], one.code);
  }
}

TEST(Ec2Errors, OfAnUnknownCodeTellByTheStatusOfHttp) {
  EXPECT_EQ(Refused(403, "NewCode", "", "").meaning(), HOSTLER_E_AUTH);
  EXPECT_EQ(Refused(429, "", "", "").meaning(), HOSTLER_E_RATE_LIMIT);
  EXPECT_EQ(Refused(500, "NewCode", "", "").meaning(), HOSTLER_E_TRANSIENT);
}

TEST(Ec2Errors, SayHowLongAmazonWantsNoRequest) {
  Refused refused(429, "", "", "");
  refused.wants_pause(30);
  driver::test::Call call;
  (void)call.run([&] { throw refusal_error(refused, "do it"); });
  EXPECT_EQ(call.error.retry_after_ms, 30'000);
}

TEST(Ec2Errors, LeaveTheOutcomeOfAChangeOpenOnlyWhereTheServerIsAtFault) {
  const auto open = [](int status, const char* code) {
    Refused refused(status, code, "", "");
    refused.was_change();
    return refused.leaves_outcome_open();
  };
  EXPECT_TRUE(open(500, "InternalError"));
  EXPECT_TRUE(open(503, "NewCode"));
  EXPECT_TRUE(open(502, ""));
  EXPECT_FALSE(open(500, "InsufficientInstanceCapacity"));
  EXPECT_FALSE(open(503, "RequestLimitExceeded"));
  EXPECT_FALSE(open(400, "NewCode"));
  EXPECT_FALSE(Refused(500, "InternalError", "", "").leaves_outcome_open()) << "of a question";
}

}  // namespace
}  // namespace hostler::ec2::test
