// Requests and replies that get lost, errors, and the chance that decides.
#include <algorithm>

#include "tests/unit/fake/fake_set.h"

namespace hostler::plugin_host {
namespace {

using model::CloudErrorClass;
using ::testing::HasSubstr;
using ::testing::SizeIs;

TEST(FakeLossTest, ALostReplyHidesAMachineThatWasMade) {
  FakeSet set(R"("lost_replies": 1)");

  const auto created = set.create("k1");

  ASSERT_FALSE(created);
  EXPECT_EQ(created.error().cls, CloudErrorClass::kTransient);
  EXPECT_TRUE(created.error().outcome_unknown);
  ASSERT_THAT(set.list(), SizeIs(1)) << "it is there";
  EXPECT_EQ(set.list()[0].idempotency_key, "k1");
}

TEST(FakeLossTest, ALostRequestMakesNothingAndLooksTheSame) {
  FakeSet set(R"("lost_requests": 1)");

  const auto created = set.create("k1");

  ASSERT_FALSE(created);
  EXPECT_EQ(created.error().cls, CloudErrorClass::kTransient);
  EXPECT_TRUE(created.error().outcome_unknown);
  EXPECT_THAT(set.list(), SizeIs(0));
}

TEST(FakeLossTest, ARetryAfterALostReplyFindsTheSameMachine) {
  FakeSet set(R"("lost_replies": 0.7, "seed": 3)");
  auto created = set.create("k1");
  int tries = 1;
  for (; !created && tries < 100; ++tries) created = set.create("k1");

  ASSERT_TRUE(created);
  EXPECT_GT(tries, 1) << "choose another seed: this one loses nothing";
  EXPECT_THAT(set.list(), SizeIs(1));
}

TEST(FakeLossTest, AnErrorIsKnownToHaveDoneNothing) {
  FakeSet failing(R"("errors": 0.5, "seed": 5)");
  int errors = 0, made = 0;
  for (int i = 0; i < 40; ++i) {
    const auto created = failing.create("k" + std::to_string(i));
    made += created ? 1 : 0;
    errors += !created && !created.error().outcome_unknown ? 1 : 0;
  }

  EXPECT_EQ(errors + made, 40);
  EXPECT_GT(errors, 5);
  EXPECT_GT(made, 5);
}

/// What happens to 30 creates, which are sent in the order of `numbers`.
std::map<std::string, std::string> fates(const std::string& seed, std::vector<int> numbers) {
  FakeSet set(R"("lost_replies": 0.3, "lost_requests": 0.3, "boot_failures": 0.5, "seed": )" +
              seed);
  std::map<std::string, std::string> out;
  for (const int number : numbers) {
    const auto key = "k" + std::to_string(number);
    const auto created = set.create(key);
    out[key] = created ? to_string(created->state) : created.error().message;
  }
  return out;
}

TEST(FakeLossTest, TheSameSeedHasTheSameChanceInWhateverOrderCallsCome) {
  std::vector<int> numbers(30);
  for (int i = 0; i < 30; ++i) numbers[static_cast<std::size_t>(i)] = i;
  const auto forward = fates("11", numbers);
  const auto other = fates("12", numbers);
  std::reverse(numbers.begin(), numbers.end());

  EXPECT_EQ(fates("11", numbers), forward);
  EXPECT_NE(other, forward);
}

TEST(FakeLossTest, AKnownKeyWithOtherArgumentsIsAConflict) {
  FakeSet set("");
  const auto made = set.create("k1", "small");
  ASSERT_TRUE(made);

  EXPECT_EQ(set.create("k1", "small").value().id, made->id);
  EXPECT_THAT(error_of(set.create("k1", "big")), HasSubstr("known with other arguments"));
  ASSERT_TRUE(set.destroy(made->id));
  EXPECT_EQ(set.create("k1", "small").value().state, model::CloudState::kGone)
      << "a key makes one machine, ever";
}

}  // namespace
}  // namespace hostler::plugin_host
