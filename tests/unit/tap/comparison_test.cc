// What is a difference between two builds of a driver, and what is not.
#include "core/tap/comparison.h"

#include <gmock/gmock.h>

namespace hostler::tap {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Call recorded(Function function, const std::string& status, const std::string& rest) {
  Call out(*json::Document::parse("{" + rest + "}"));
  out.function = function;
  out.status = status;
  return out;
}
Outcome now(const std::vector<std::string>& records) {
  Outcome out;
  for (const auto& record : records) out.records.add(record);
  return out;
}

TEST(ComparisonTest, OtherValuesAndTheStateOfTheMomentAreNoDifference) {
  const auto call = recorded(Function::kCreate, "ok",
                             R"("records": [{"id": "i-1", "zone": "a", "state": "pending"}])");

  EXPECT_THAT(compare(call, now({R"({"id": "x", "zone": "b", "address": "192.0.2.1"})"})),
              IsEmpty());
}

TEST(ComparisonTest, MembersThatAreMissingOrNewAreDifferences) {
  const auto call = recorded(Function::kCreate, "ok", R"("records": [{"id": "i-1", "zone": "a"}])");

  EXPECT_THAT(compare(call, now({R"({"id": "i-1", "owner": "me"})"})),
              ElementsAre("records are without zone, which the recording has",
                          "records are with owner, which are new"));
}

TEST(ComparisonTest, AnotherStatusIsADifference) {
  const auto call = recorded(Function::kCreate, "capacity", R"("error": {}, "records": [])");

  EXPECT_THAT(compare(call, now({"{}"})), ElementsAre("the status was capacity, and is ok"));
}

TEST(ComparisonTest, AnotherKindOfErrorIsADifferenceAndOtherWordsAreNone) {
  const auto call = recorded(Function::kCreate, "quota",
                             R"("error": {"message": "full", "scope": 16}, "records": [])");
  Outcome outcome;
  outcome.status = "quota";
  outcome.error = R"({"message": "all used", "scope": 16})";
  EXPECT_THAT(compare(call, outcome), IsEmpty());

  outcome.error = R"({"message": "full", "scope": 1, "outcome_unknown": true})";
  EXPECT_THAT(compare(call, outcome), ElementsAre(HasSubstr("with outcome_unknown"),
                                                  "the scope of the error was 16, and is 1"));
}

TEST(ComparisonTest, AnEmptyListIsNoDifferenceAndNoOfferingsAreOne) {
  const std::string one = R"("records": [{"id": "i-1"}])";

  EXPECT_THAT(compare(recorded(Function::kList, "ok", one), now({})), IsEmpty());
  EXPECT_THAT(compare(recorded(Function::kOfferings, "ok", one), now({})),
              ElementsAre("the recording has records, and now there are none"));
}

}  // namespace
}  // namespace hostler::tap
