// The cards of hosts in snapshots.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/planning/read.h"
#include "core/planning/write.h"
#include "tests/unit/planning/plan_text.h"

namespace hostler::planning {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::StartsWith;

const std::string kMixed =
    R"("gpus": [{"count": 2, "kind": "a100", "memory": "40GiB"}, {"count": 1, "kind": "t4"}])";
const model::GpuGroups kCards{{"a100", std::int64_t{40} << 30, 2}, {"t4", 0, 1}};

/// The small snapshot, with two kinds of cards on the type, and more to say of the first host.
Reading read(const std::string& of_host, const std::string& of_offering = kMixed) {
  const std::string text = replaced(kSmall, "\"vcpus\": 2, \"ram\": \"4GiB\"",
                                    "\"vcpus\": 2, \"ram\": \"4GiB\", " + of_offering);
  return read_question(replaced(text, "\"age\": \"1h\"", "\"age\": \"1h\"" + of_host));
}

std::vector<std::string> problems_of(const Reading& reading) {
  std::vector<std::string> out;
  for (const Error& problem : reading.problems) out.push_back(problem.message);
  return out;
}

TEST(HostGpusTest, AHostHasTheCardsOfItsOfferingAndAllAreFree) {
  const Reading reading = read("");
  ASSERT_THAT(problems_of(reading), IsEmpty());
  const auto& snapshot = reading.question.snapshot;
  EXPECT_EQ(snapshot.offerings[0].gpus, kCards);
  EXPECT_EQ(snapshot.offerings[0].resources.gpus, 3);
  for (const auto& host : snapshot.hosts) {
    EXPECT_EQ(host.gpus, model::GpuGroups());
    EXPECT_EQ(host.cards, kCards);
    EXPECT_EQ(host.free.gpus, 3);
  }
}

TEST(HostGpusTest, AHostMayHaveOthersThanItsOffering) {
  const Reading reading = read(R"(, "total": {"gpus": {"count": 2, "kind": "l4"}})");
  ASSERT_THAT(problems_of(reading), IsEmpty());
  const auto& host = reading.question.snapshot.hosts[0];
  EXPECT_EQ(host.gpus, (model::GpuGroups{{"l4", 0, 2}}));
  EXPECT_EQ(host.total.gpus, 2);
  EXPECT_EQ(host.free.gpus, 2);
}

TEST(HostGpusTest, CardsThatAreInUseAreMissingInFree) {
  const Reading one = read(R"(, "free": {"gpus": {"count": 1, "kind": "t4"}})");
  ASSERT_THAT(problems_of(one), IsEmpty());
  EXPECT_EQ(one.question.snapshot.hosts[0].cards, (model::GpuGroups{{"t4", 0, 1}}));
  EXPECT_EQ(one.question.snapshot.hosts[0].free.gpus, 1);
  const Reading none = read(R"(, "free": {"gpus": 0})");
  ASSERT_THAT(problems_of(none), IsEmpty());
  EXPECT_EQ(none.question.snapshot.hosts[0].cards, model::GpuGroups());
  const std::string written = write_question(none.question);
  EXPECT_EQ(read_question(written).question.snapshot.hosts[0].free.gpus, 0) << "as it is written";
}

TEST(HostGpusTest, ANumberDoesNotSayWhichOfSeveralKindsAreThere) {
  EXPECT_THAT(problems_of(read(R"(, "free": {"gpus": 1})")),
              ElementsAre(StartsWith("hosts[0].free: found 1 gpus, allowed: how many of each")));
  EXPECT_THAT(problems_of(read(R"(, "total": {"gpus": 2})")),
              testing::Contains(StartsWith("hosts[0].total: found 2 gpus, allowed: how many of")));
  EXPECT_THAT(problems_of(read(R"(, "free": {"gpus": 1})", "\"gpus\": 2")), IsEmpty())
      << "its cards are alike";
}

TEST(HostGpusTest, NoMoreIsFreeThanThereIs) {
  for (const std::string gpus :
       {R"({"count": 3, "kind": "a100", "memory": "40GiB"})", R"({"count": 1, "kind": "a100"})",
        R"({"count": 1, "kind": "h100"})"})
    EXPECT_THAT(problems_of(read(R"(, "free": {"gpus": )" + gpus + "}")),
                ElementsAre(StartsWith("hosts[0].free: some of its gpus are not there")))
        << gpus;
  EXPECT_THAT(problems_of(read(R"(, "free": {"gpus": 4})")),
              testing::Contains(StartsWith("hosts[0].free: more is free than there is")));
}

}  // namespace
}  // namespace hostler::planning
