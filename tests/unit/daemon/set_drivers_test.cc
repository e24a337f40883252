#include "core/daemon/set_drivers.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <thread>
#include <utility>

#include "core/daemon/timed_call.h"

namespace hostler::daemon {
namespace {

using model::CloudResult;
using model::SetInfo;

/// An open hangs until the driver is closed, as far as the interface promises: then it ends with an
/// error.
class HangingDriver final : public plugin_host::DriverSet {
 public:
  explicit HangingDriver(
      std::atomic<int>& closed, std::function<void()> closing = [] {})
      : closed_(closed), closing_(std::move(closing)) {}
  ~HangingDriver() override {
    closing_();
    ++closed_;
    if (open_) open_(tl::unexpected(model::CloudError{}));
  }
  void open(plugin_host::SetConfig, Duration, Done<SetInfo> done) override {
    open_ = std::move(done);
  }
  void info(Duration, Done<SetInfo>) override {}
  void create(model::CreateRequest, Duration, std::function<void(const model::ListedInstance&)>,
              Done<model::ListedInstance>) override {}
  void list(model::ListRequest, Duration, Done<std::vector<model::ListedInstance>>) override {}
  void destroy(model::DestroyRequest, Duration, Done<Nothing>) override {}
  void set_tags(model::SetTagsRequest, Duration, Done<Nothing>) override {}
  void verify_host_key(plugin_host::HostKeyCheck, Duration, Done<Nothing>) override {}
  void price_history(plugin_host::PriceQuery, Duration,
                     Done<std::vector<model::ZonePrice>>) override {}
  void quota_group(model::InstanceType, Duration, Done<std::string>) override {}
  void start(model::PowerRequest, Duration, Done<Nothing>) override {}
  void stop(model::PowerRequest, Duration, Done<Nothing>) override {}
  void offerings(model::OfferingsQuery, Duration,
                 Done<std::vector<model::CloudOffering>>) override {}
  void watch_interruptions(Duration, std::function<void(const model::Interruption&)>,
                           Done<Nothing>) override {}
  void read_console(model::ConsoleQuery, Duration, Done<model::ConsoleText>) override {}
  void list_leftovers(model::Tags, Duration, Done<std::vector<model::Leftover>>) override {}
  void destroy_leftover(model::LeftoverDestroyRequest, Duration, Done<Nothing>) override {}
  void find_images(model::ImageQuery, Duration, Done<std::vector<model::Image>>) override {}
  [[nodiscard]] plugin_host::SetHealth health() const override { return {}; }

 private:
  std::atomic<int>& closed_;
  const std::function<void()> closing_;
  Done<SetInfo> open_;
};

class SetDriversTest : public testing::Test {
 protected:
  LoadedDriver driver(const std::string& config) {
    SetSource source;
    source.config_json = config;
    return {
        .source = source, .identity = "files", .driver = std::make_unique<HangingDriver>(closed)};
  }
  /// Waits until what was given to the closer is closed.
  void finish_closing() { closer.wait(); }
  void TearDown() override { finish_closing(); }
  /// Another driver takes over, and the one before, which nobody uses, is closed.
  void succeed(LoadedDriver fresh) {
    const auto number = drivers.add_successor(std::move(fresh));
    EXPECT_TRUE(drivers.successor_ended(number, true));
    drivers.take_over(number);
  }

  std::atomic<int> closed = 0, told = 0;
  DriverCloser closer;
  SetDrivers drivers{closer, driver("first"), [this] { ++told; }};
};

TEST_F(SetDriversTest, ADriverThatWasReplacedIsClosedAfterItsLastCall) {
  const auto old = drivers.use().number();
  drivers.begin_use(old);  // a call without an answer
  const auto fresh = drivers.add_successor(driver("second"));
  EXPECT_TRUE(drivers.successor_ended(fresh, true));
  EXPECT_EQ(drivers.newest().source.config_json, "second");
  drivers.take_over(fresh);
  EXPECT_EQ(drivers.use().number(), fresh);
  EXPECT_EQ(drivers.draining(), 1U);
  EXPECT_EQ(closed, 0);
  drivers.end_use(old);
  finish_closing();
  EXPECT_EQ(drivers.draining(), 0U);
  EXPECT_EQ(closed, 1);
  drivers.close_all();
  finish_closing();
  EXPECT_EQ(closed, 2);
}

// Bug: drivers were closed one after another, and were not counted meanwhile: 25 reloads of a set
// whose driver hung gave 18 processes, and the daemon needed 42 s to end.
TEST_F(SetDriversTest, EarlierDriversAreClosedSideBySideAndCountUntilThen) {
  std::promise<void> may_close;
  std::atomic<int> closing = 0;
  const auto slow = [&, goes_on = may_close.get_future().share()](const std::string& config) {
    auto out = driver(config);
    out.driver = std::make_unique<HangingDriver>(closed, [&closing, goes_on] {
      ++closing;
      goes_on.wait();
    });
    return out;
  };
  succeed(slow("second"));
  finish_closing();
  EXPECT_FALSE(drivers.is_crowded());
  succeed(slow("third"));
  succeed(driver("fourth"));
  EXPECT_EQ(drivers.draining(), 2U);
  EXPECT_TRUE(drivers.is_crowded()) << "a reload has to wait";

  const auto patience = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (closing < 2 && std::chrono::steady_clock::now() < patience) std::this_thread::yield();
  EXPECT_EQ(closing, 2);
  may_close.set_value();
  finish_closing();
  EXPECT_EQ(drivers.draining(), 0U);
  EXPECT_EQ(told, 3) << "a reload that waits is made then";
  drivers.close_all();
}

// Bug: the answer to a list of the driver before shut the gate of the credentials that had replaced
// its own.
TEST_F(SetDriversTest, CredentialsThatWereReplacedAreRefusedInVain) {
  metrics::Metrics metrics("1");
  CredentialWatches credentials([](const std::string&, const Result<std::string>&) {});
  const auto refused = [&](SetDrivers::Number number, const auto& before_the_answer) {
    const TimedCall call(metrics, credentials, "set", model::CloudOp::kList, drivers, number);
    before_the_answer();
    model::CloudError error;
    error.cls = model::CloudErrorClass::kAuth;
    CloudResult<int> result = tl::unexpected(std::move(error));
    call.ended(result);
    return result.error().cls;
  };
  EXPECT_EQ(refused(drivers.use().number(), [] {}), model::CloudErrorClass::kAuth);
  EXPECT_EQ(refused(drivers.use().number(),
                    [&] {
                      const auto fresh = drivers.add_successor(driver("second"));
                      EXPECT_TRUE(drivers.successor_ended(fresh, true));
                      drivers.take_over(fresh);
                    }),
            model::CloudErrorClass::kTransient);
  drivers.close_all();
}

TEST_F(SetDriversTest, ASuccessorThatHangsInOpenIsClosedWhenItIsDropped) {
  const auto fresh = drivers.add_successor(driver("second"));
  bool was_wanted = true;
  drivers.use_successor(fresh)->open({}, {}, [&](const CloudResult<SetInfo>& result) {
    was_wanted = drivers.successor_ended(fresh, result.has_value());
  });
  drivers.drop_successor();
  finish_closing();
  EXPECT_EQ(closed, 1);
  EXPECT_FALSE(was_wanted);
  EXPECT_EQ(drivers.newest().source.config_json, "first");
  drivers.close_all();
}

TEST_F(SetDriversTest, CallsMayEndWhileAllIsClosed) {
  const auto fresh = drivers.add_successor(driver("second"));
  bool was_wanted = true;
  drivers.use_successor(fresh)->open({}, {}, [&](const CloudResult<SetInfo>&) {
    was_wanted = drivers.successor_ended(fresh, true);
  });
  const auto in_use = drivers.use_to_open().number();
  drivers.begin_use(in_use);
  drivers.use()->open({}, {}, [&](const CloudResult<SetInfo>&) {
    drivers.open_ended(in_use, false);
    drivers.end_use(in_use);
  });
  drivers.close_all();
  finish_closing();
  EXPECT_EQ(closed, 2);
  EXPECT_FALSE(was_wanted);
}

TEST_F(SetDriversTest, OneThatWasNeverOpenIsReplacedUnlessItIsBeingOpened) {
  auto second = driver("second");
  const auto first = drivers.use_to_open().number();
  EXPECT_FALSE(drivers.replace(second));
  drivers.open_ended(first, false);
  EXPECT_TRUE(drivers.replace(second));
  EXPECT_EQ(drivers.newest().source.config_json, "second");
  drivers.open_ended(drivers.use_to_open().number(), true);
  auto third = driver("third");
  EXPECT_FALSE(drivers.replace(third));
  third.driver.reset();
  drivers.close_all();
}

TEST_F(SetDriversTest, NothingIsReplacedOnceASuccessorHasBeenOpened) {
  const auto in_use = drivers.use_to_open().number();
  const auto successor = drivers.add_successor(driver("second"));
  drivers.open_ended(in_use, false);
  ASSERT_TRUE(drivers.successor_ended(successor, true));  // while a reload loads another one
  auto third = driver("third");
  EXPECT_FALSE(drivers.replace(third));
  EXPECT_NE(third.driver, nullptr) << "it can still be opened as a successor";
  drivers.take_over(successor);
  EXPECT_EQ(drivers.newest().source.config_json, "second");
  third.driver.reset();
  drivers.close_all();
}

}  // namespace
}  // namespace hostler::daemon
