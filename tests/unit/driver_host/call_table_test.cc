#include "core/driver_host/parent/call_table.h"

#include <gtest/gtest.h>

namespace hostler::driver_host {
namespace {

using namespace std::chrono_literals;
using Due = CallTable::Due;
using plugin_host::Operation;

struct IgnoresEnds final : Operation::Listener {
  void on_ended(Operation&) override {}
  void on_late_return(Operation&) override {}
  void on_broken_rule(const Operation&, const std::string&) override {}
};

const std::string kName = "destroy";
IgnoresEnds ignores_ends;

class HangingCall final : public Operation {
 public:
  HangingCall() : Operation({}, kName, ignores_ends) {}

 private:
  hostler_status call_driver() override { return HOSTLER_PENDING; }
  bool take_record(const hostler_rec&) override { return true; }
  void deliver(std::optional<model::CloudError>) override {}
};

/// A call that hangs, whose deadline was at `begin`.
class CallTableTest : public testing::Test {
 protected:
  CallTableTest() {
    call->set_deadline(begin);
    calls.add_apart(call);
    calls.send_apart(*call, 1);
    EXPECT_EQ(next(0s), Due::kCancel);
  }
  std::optional<Due> next(Duration after) {
    const auto due = calls.next_due(begin + after);
    if (!due) return std::nullopt;
    return due->second;
  }

  const SteadyTime begin{1h};
  CallTable calls{{.hang = 2s, .grace = 10s}};
  CallTable::Op call = std::make_shared<HangingCall>();
};

TEST_F(CallTableTest, IsAbandonedAfterItsGraceTime) {
  EXPECT_EQ(next(2s), Due::kHang);
  EXPECT_EQ(next(9s), std::nullopt);
  EXPECT_EQ(next(10s), Due::kAbandon);
}

// Bug: a stop of the daemon waited for the whole grace time of a call that hung before it.
TEST_F(CallTableTest, AStopSoonAbandonsACallThatIsOverdue) {
  calls.expire_all(begin + 1s);
  EXPECT_EQ(next(2s), Due::kHang);
  EXPECT_EQ(next(3s), Due::kAbandon);
}

TEST_F(CallTableTest, AStopSoonAbandonsACallThatHangs) {
  EXPECT_EQ(next(2s), Due::kHang);
  calls.expire_all(begin + 3s);
  EXPECT_EQ(next(4s), std::nullopt);
  EXPECT_EQ(next(5s), Due::kAbandon);
}

TEST_F(CallTableTest, AStopGivesNoCallMoreTime) {
  EXPECT_EQ(next(2s), Due::kHang);
  calls.expire_all(begin + 9s);
  EXPECT_EQ(next(10s), Due::kAbandon);
}

}  // namespace
}  // namespace hostler::driver_host
