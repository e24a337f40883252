#include "core/plugin_host/operation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <future>
#include <latch>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace hostler::plugin_host {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

class CountingListener final : public Operation::Listener {
 public:
  void on_ended(Operation&) override {
    ++ends;
    done.set_value();
  }
  void on_late_return(Operation&) override { ++returns; }
  void on_broken_rule(const Operation&, const std::string& rule) override { last = rule, ++broken; }

  std::promise<void> done;
  std::atomic<int> ends = 0, returns = 0, broken = 0;
  std::string last;
};

/// An operation whose driver is a function of the test.
class Scripted final : public Operation {
 public:
  Scripted(Listener& listener, std::function<hostler_status(hostler_op*)> driver)
      : Operation({.name = "test"}, name_, listener), driver_(std::move(driver)) {}

  std::function<void()> while_taking = [] {};
  std::string broken_rule;  ///< Of each record; empty = none.
  std::optional<model::CloudError> failed;

 private:
  hostler_status call_driver() override { return driver_(this); }
  bool take_record(const hostler_rec&) override {
    while_taking();
    if (!broken_rule.empty()) report_broken_rule(broken_rule);
    return true;
  }
  void deliver(std::optional<model::CloudError> failure) override { failed = std::move(failure); }

  std::string name_ = "scripted";
  std::function<hostler_status(hostler_op*)> driver_;
};

const hostler_rec kRecord = {sizeof kRecord, 4711};

TEST(OperationTest, NoticesTwoRecordsEmittedAtOnce) {
  CountingListener listener;
  const auto op = std::make_shared<Scripted>(listener, [](hostler_op* o) {
    o->emit(o, &kRecord);
    return HOSTLER_OK;
  });
  op->while_taking = [raw = op.get()] {  // the first record is still being taken
    std::thread([raw] { EXPECT_NE(raw->emit(raw, &kRecord), 0); }).join();
  };

  op->run();
  op->deliver_result();

  ASSERT_TRUE(op->failed);
  EXPECT_THAT(op->failed->message, HasSubstr("R27: "));
}

TEST(OperationTest, DoesNotTakeAnAbandonForASecondRecord) {
  CountingListener listener;
  const auto op = std::make_shared<Scripted>(listener, [](hostler_op*) { return HOSTLER_PENDING; });
  op->run();

  std::thread driver([&] {
    for (int i = 0; i < 20'000; ++i) op->emit(op.get(), &kRecord);
  });
  for (int i = 0; i < 20'000; ++i) op->abandon("abandoned");
  driver.join();
  op->complete(op.get(), HOSTLER_OK);

  EXPECT_EQ(listener.broken, 0) << listener.last;
}

TEST(OperationTest, AbandonWaitsUntilTheCurrentRecordIsTaken) {
  for (int i = 0; i < 500; ++i) {
    CountingListener listener;
    const auto op = std::make_shared<Scripted>(listener, [](hostler_op* o) {
      o->emit(o, &kRecord);
      return HOSTLER_OK;
    });
    bool taken = false, taken_before = false;  // without a lock: abandon() waits
    std::thread host;
    op->while_taking = [&] {
      host = std::thread([&] { op->abandon("abandoned"), taken_before = taken; });
      std::this_thread::yield();
      taken = true;
    };

    op->run();
    host.join();

    EXPECT_TRUE(taken_before);
  }
}

// Once a bug: the host waited for the record, and the record for a lock of the host.
TEST(OperationTest, ARecordThatBreaksARuleDoesNotBlockAHostThatAbandonsTheCall) {
  struct LockingListener final : Operation::Listener {
    void on_ended(Operation&) override {}
    void on_late_return(Operation&) override {}
    void on_broken_rule(const Operation&, const std::string&) override {
      const std::lock_guard lock(mutex);
    }
    std::mutex mutex;
  };
  for (int i = 0; i < 500; ++i) {
    LockingListener listener;
    const auto op = std::make_shared<Scripted>(listener, [](hostler_op* o) {
      o->emit(o, &kRecord);
      return HOSTLER_OK;
    });
    op->broken_rule = "R28: test";
    std::thread host;
    op->while_taking = [&] {
      std::latch locked(1);
      host = std::thread([&] {
        const std::lock_guard lock(listener.mutex);
        locked.count_down();
        op->abandon("abandoned");
      });
      locked.wait();
      std::this_thread::yield();
    };

    op->run();
    host.join();

    op->deliver_result();
    EXPECT_TRUE(op->failed);
  }
}

TEST(OperationTest, NotifiesItsListenerOnceWhenAbandonAndCompletionRace) {
  for (int i = 0; i < 5000; ++i) {
    CountingListener listener;
    const auto op =
        std::make_shared<Scripted>(listener, [](hostler_op*) { return HOSTLER_PENDING; });
    op->run();

    std::latch both(2);
    std::thread driver([&] {
      both.arrive_and_wait();
      op->complete(op.get(), HOSTLER_OK);
    });
    both.arrive_and_wait();
    const bool abandoned = op->abandon("abandoned");
    driver.join();

    EXPECT_EQ(listener.ends, abandoned ? 0 : 1);
    EXPECT_EQ(listener.returns, abandoned ? 1 : 0);
  }
}

TEST(OperationTest, RemovingACancelFunctionWaitsUntilItHasReturned) {
  CountingListener listener;
  std::promise<void> registered, entered, may_leave;
  std::atomic<bool> left = false, left_before_removal = false;
  struct Shared {
    std::promise<void>*entered, *may_leave;
    std::atomic<bool>* left;
  } shared{&entered, &may_leave, &left};
  const auto op = std::make_shared<Scripted>(listener, [&](hostler_op* o) {
    o->on_cancel(
        o,
        [](void* arg) {
          auto& s = *static_cast<Shared*>(arg);
          s.entered->set_value();
          s.may_leave->get_future().wait();
          *s.left = true;
        },
        &shared);
    registered.set_value();
    entered.get_future().wait();
    std::thread([&] { may_leave.set_value(); }).detach();
    o->on_cancel(o, nullptr, nullptr);
    left_before_removal = left.load();
    return HOSTLER_OK;
  });

  std::thread driver([&] { op->run(); });
  registered.get_future().wait();
  op->cancel(false);
  driver.join();

  EXPECT_TRUE(left_before_removal);
  EXPECT_EQ(listener.broken, 0);
}

TEST(OperationTest, CallsTheCancelFunctionAtOnceIfItIsCancelledAlready) {
  CountingListener listener;
  int called = 0;
  const auto op = std::make_shared<Scripted>(listener, [&](hostler_op* o) {
    o->on_cancel(
        o, [](void* arg) { ++*static_cast<int*>(arg); }, &called);
    return HOSTLER_OK;
  });
  op->cancel(false);

  op->run();

  EXPECT_EQ(called, 1);
}

TEST(OperationTest, ASlowCancelFunctionDoesNotDelayOtherOperations) {
  CountingListener slow_listener, listener;
  std::promise<void> entered, may_leave;
  std::pair<std::promise<void>*, std::promise<void>*> both{&entered, &may_leave};
  const auto slow = std::make_shared<Scripted>(slow_listener, [&](hostler_op* o) {
    o->on_cancel(
        o,
        [](void* arg) {
          auto& p = *static_cast<decltype(both)*>(arg);
          p.first->set_value();
          p.second->get_future().wait();
        },
        &both);
    return HOSTLER_PENDING;
  });
  std::promise<void> cancelled;
  const auto other = std::make_shared<Scripted>(listener, [&](hostler_op* o) {
    o->on_cancel(
        o, [](void* arg) { static_cast<std::promise<void>*>(arg)->set_value(); }, &cancelled);
    return HOSTLER_PENDING;
  });
  slow->run();
  other->run();

  slow->cancel(false);
  entered.get_future().wait();
  other->cancel(false);

  EXPECT_EQ(cancelled.get_future().wait_for(60s), std::future_status::ready);
  may_leave.set_value();
  slow->complete(slow.get(), HOSTLER_OK);
  other->complete(other.get(), HOSTLER_OK);
}

TEST(OperationTest, EndsOnceWhenCancelDeadlineAndCompletionRace) {
  std::atomic<int> ended = 0;
  for (int i = 0; i < 500; ++i) {
    CountingListener listener;
    struct Worker {
      std::mutex mutex;
      std::condition_variable wake;
      bool go = false;
    } worker;
    const auto op = std::make_shared<Scripted>(listener, [&](hostler_op* o) {
      o->on_cancel(
          o,
          [](void* arg) {
            auto& w = *static_cast<Worker*>(arg);
            const std::lock_guard lock(w.mutex);
            w.go = true;
            w.wake.notify_one();
          },
          &worker);
      return HOSTLER_PENDING;
    });
    op->run();
    std::thread driver([&] {
      if (i % 2 == 0) {  // waits for the cancel; otherwise completes at any time
        std::unique_lock lock(worker.mutex);
        worker.wake.wait(lock, [&] { return worker.go; });
      }
      op->emit(op.get(), &kRecord);
      op->complete(op.get(), HOSTLER_OK);
    });
    op->cancel(true);
    const bool abandoned = i % 3 == 0 && op->abandon("abandoned");
    driver.join();
    if (!abandoned) listener.done.get_future().wait();
    op->deliver_result();
    ended += abandoned ? 1 : listener.ends.load();
    EXPECT_EQ(listener.broken, 0) << listener.last;
  }
  EXPECT_EQ(ended, 500);
}

}  // namespace
}  // namespace hostler::plugin_host
