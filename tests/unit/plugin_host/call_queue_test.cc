#include "core/plugin_host/call_queue.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace hostler::plugin_host {
namespace {

struct Ignore final : Operation::Listener {
  void on_ended(Operation&) override {}
  void on_late_return(Operation&) override {}
  void on_broken_rule(const Operation&, const std::string&) override {}
};

class QueuedCall final : public Operation {
 public:
  explicit QueuedCall(bool urgent) : Operation({.urgent = urgent}, name(), listener()) {}

 private:
  static const std::string& name() {
    static const std::string kName = "queued";
    return kName;
  }
  static Listener& listener() {
    static Ignore ignore;
    return ignore;
  }
  hostler_status call_driver() override { return HOSTLER_OK; }
  bool take_record(const hostler_rec&) override { return true; }
  void deliver(std::optional<model::CloudError>) override {}
};

std::shared_ptr<Operation> normal() { return std::make_shared<QueuedCall>(false); }
std::shared_ptr<Operation> urgent() { return std::make_shared<QueuedCall>(true); }

TEST(CallQueueTest, ReservesOneOfSeveralSlotsForUrgentCalls) {
  CallQueue queue(2);
  const auto first = normal(), second = normal(), list = urgent();
  for (const auto& op : {first, second, list}) queue.push(op);

  EXPECT_EQ(queue.next(), list) << "urgent calls go first";
  EXPECT_EQ(queue.next(), first);
  EXPECT_EQ(queue.next(), nullptr);
  queue.leave(*list);
  EXPECT_EQ(queue.next(), nullptr) << "the free slot is the reserved one";
  queue.leave(*first);
  EXPECT_EQ(queue.next(), second);
}

TEST(CallQueueTest, GivesTheOnlySlotToAnyCallButUrgentOnesFirst) {
  CallQueue queue(1);
  const auto create = normal(), list = urgent();
  queue.push(create);
  queue.push(list);

  EXPECT_EQ(queue.next(), list);
  EXPECT_EQ(queue.next(), nullptr);
  queue.leave(*list);
  EXPECT_EQ(queue.next(), create);
}

TEST(CallQueueTest, LowersItsSlotsToOneAtLeastAndNeverRaisesThem) {
  CallQueue queue(4);

  queue.lower_slots(8);
  EXPECT_EQ(queue.slots(), 4U);
  queue.lower_slots(0);
  EXPECT_EQ(queue.slots(), 1U);
}

TEST(CallQueueTest, RemovesOnlyCallsThatWait) {
  CallQueue queue(1);
  const auto running = normal(), waiting = normal(), last = urgent();
  queue.push(running);
  ASSERT_EQ(queue.next(), running);
  queue.push(waiting);
  queue.push(last);

  EXPECT_FALSE(queue.remove(*running));
  EXPECT_TRUE(queue.remove(*waiting));
  EXPECT_EQ(queue.remove_all().size(), 1U);
  EXPECT_EQ(queue.size(), 0U);
}

}  // namespace
}  // namespace hostler::plugin_host
