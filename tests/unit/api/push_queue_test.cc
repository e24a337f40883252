#include "core/api/push_queue.h"

#include <gmock/gmock.h>

#include "tests/unit/api/fake_service.h"

/// One push of a pool at a time, and the newest of those that wait.
namespace hostler::api {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class PushQueueTest : public testing::Test {
 protected:
  /// Holds answers back, as the loop does.
  class Slow final : public FakeService {
   public:
    void push(const Principal& who, const std::string& pool, model::Push push,
              Answer<model::PushAnswer> answer) override {
      (void)who;
      begun.push_back(pool + " " + std::to_string(push.sequence));
      open.push_back(std::move(answer));
    }
    void finish_one() {
      const auto answer = std::move(open.front());
      open.pop_front();
      answer(model::PushAnswer{});
    }
    std::vector<std::string> begun;
    std::deque<Answer<model::PushAnswer>> open;
  };

  void push(const std::string& pool, std::uint64_t sequence, const std::string& who = "token a") {
    model::Push one;
    one.sequence = sequence;
    queue->add(service, Principal{.name = who, .role = Role::kScaler}, pool, std::move(one),
               [this, sequence](const Result<model::PushAnswer>& result) {
                 const std::string end(result ? "done" : to_string(result.error().code));
                 told.push_back(std::to_string(sequence) + " " + end);
               });
  }

  Slow service;
  std::shared_ptr<PushQueue> queue = std::make_shared<PushQueue>();
  std::vector<std::string> told;
};

TEST_F(PushQueueTest, OneIsHandledAtATimeAndTheNewestOfThoseThatWaitIsNext) {
  for (const std::uint64_t sequence : {1, 2, 3, 4}) push("gpu", sequence);
  EXPECT_THAT(service.begun, ElementsAre("gpu 1"));
  EXPECT_THAT(told, ElementsAre("2 conflict", "3 conflict"));
  service.finish_one();
  EXPECT_THAT(service.begun, ElementsAre("gpu 1", "gpu 4"));
  service.finish_one();
  EXPECT_THAT(told, ElementsAre("2 conflict", "3 conflict", "1 done", "4 done"));
  push("gpu", 5);
  EXPECT_EQ(service.begun.back(), "gpu 5");
}

TEST_F(PushQueueTest, PoolsDoNotWaitForEachOther) {
  push("gpu", 1);
  push("cpu", 1);
  EXPECT_THAT(service.begun, ElementsAre("gpu 1", "cpu 1"));
  EXPECT_THAT(told, IsEmpty());
}

// Who may push is for the service to say: until then nobody is kept from it by the pushes of
// another.
TEST_F(PushQueueTest, AnotherPrincipalDisplacesNothing) {
  push("gpu", 1, "token a");
  push("gpu", 2, "token a");
  push("gpu", 7, "token b");
  push("gpu", 8, "token b");
  EXPECT_THAT(told, ElementsAre("7 conflict"));
  for (int n = 0; n < 3; ++n) service.finish_one();
  EXPECT_THAT(service.begun, ElementsAre("gpu 1", "gpu 2", "gpu 8"));
}

}  // namespace
}  // namespace hostler::api
