// What a request says and a driver's header does not know is refused, not read as 0 (law 6).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/plugin_host/call_runner.h"
#include "core/plugin_host/host_table.h"
#include "hostler/driver.hpp"
#include "tests/unit/plugin_host/chaos_set.h"

namespace hostler::plugin_host {
namespace {

using ::testing::HasSubstr;

/// A driver by driver.hpp: all its functions do is to count.
struct Counter {
  static driver::About about() {
    return {"counter", "1", "test", "Apache-2.0", "{}", HOSTLER_THREAD_CONCURRENT, 1};
  }
  Counter(const hostler_host&, const hostler_set_config&, hostler_op*) {}
  void info(const hostler_set_info_req&, hostler_op*) { ++calls; }
  void create(const hostler_create_req&, hostler_op*) {
    if (is_broken) throw std::out_of_range("a bug of the driver");
    ++calls;
  }
  void list(const hostler_list_req&, hostler_op*) { ++calls; }
  void destroy(const hostler_destroy_req&, hostler_op*) { ++calls; }
  void set_tags(const hostler_set_tags_req&, hostler_op*) { ++calls; }
  void quota_group(const hostler_quota_group_req&, hostler_op*) { ++calls; }
  void verify(const hostler_verify_req&, hostler_op*) { ++calls; }
  void start(const hostler_power_req&, hostler_op*) { ++calls; }
  void stop(const hostler_power_req&, hostler_op*) { ++calls; }
  void offerings(const hostler_offerings_req&, hostler_op*) { ++calls; }
  hostler_status watch(const hostler_interruption_req&, hostler_op*) {
    return ++calls, HOSTLER_PENDING;
  }
  void read_console(const hostler_console_req&, hostler_op*) { ++calls; }
  void list_leftovers(const hostler_leftover_list_req&, hostler_op*) { ++calls; }
  void destroy_leftover(const hostler_leftover_destroy_req&, hostler_op*) { ++calls; }
  void find_images(const hostler_images_req&, hostler_op*) { ++calls; }
  int calls = 0;
  bool is_broken = false;
};

class MustUnderstand : public ::testing::Test {
 protected:
  MustUnderstand() {
    op_.struct_size = sizeof op_;
    op_.error = &error_;
    error_.set_text = [](hostler_error* e, std::uint32_t field, const char* s, std::size_t n) {
      if (field == HOSTLER_TEXT_MESSAGE) static_cast<ErrorWithText*>(e)->text.assign(s, n);
    };
    request_.type = &type_;
    disks_ = {&disk_};
    request_.disks = disks_.data();
    request_.n_disks = 1;
    disk_.role = HOSTLER_DISK_ROOT;
    request_.user_data = &user_data_;
  }
  hostler_status create() { return table_.create(set(), &request_, &op_); }
  hostler_set* set() { return reinterpret_cast<hostler_set*>(&driver_); }
  /// Of an extension; all zero if there is none.
  template <class Table>
  Table table_of(const char* id) {
    const void* const found = table_.get_extension(id);
    EXPECT_NE(found, nullptr) << id;
    return found == nullptr ? Table{} : *static_cast<const Table*>(found);
  }

  /// The field `value` one further than what the header knows is refused, by name.
  void refuses(std::uint32_t& value, std::uint32_t unknown, const char* name) {
    const auto known = std::exchange(value, unknown);
    EXPECT_EQ(create(), HOSTLER_E_UNSUPPORTED) << name;
    EXPECT_THAT(error_.text, HasSubstr(name));
    value = known;
  }

  struct ErrorWithText : hostler_error {
    std::string text;
  };
  ErrorWithText error_{};
  hostler_op op_{};
  Counter driver_{{}, {}, nullptr};
  const hostler_driver& table_ = *driver::detail::table<Counter>();
  hostler_instance_type type_ = driver::sized<hostler_instance_type>();
  hostler_user_data user_data_ = driver::sized<hostler_user_data>();
  hostler_disk disk_ = driver::sized<hostler_disk>();
  std::vector<const hostler_disk*> disks_;
  hostler_create_req request_ = driver::sized<hostler_create_req>();
};

TEST_F(MustUnderstand, ADriverInCppRefusesWhatItsHeaderDoesNotKnowOfACreate) {
  refuses(request_.flags, 1, "flags 1 of create");
  refuses(request_.market, HOSTLER_MARKET_SPOT + 1, "market 3");
  refuses(request_.tenancy, HOSTLER_TENANCY_HOST + 1, "tenancy 3");
  refuses(request_.public_ip, HOSTLER_PUBLIC_IP_NO + 1, "public_ip 3");
  refuses(type_.flags, 0x100, "flags 256 of a type");
  refuses(type_.market, HOSTLER_MARKET_SPOT + 1, "market 3");
  refuses(user_data_.format, HOSTLER_USER_DATA_MIME + 1, "user data of format 3");
  refuses(user_data_.flags, 0x04, "flags 4 of user data");
  refuses(disk_.role, HOSTLER_DISK_SCRATCH + 1, "disk of role 3");
  refuses(disk_.flags, 0x04, "flags 4 of a disk");
  EXPECT_EQ(driver_.calls, 0) << "nothing is done";

  EXPECT_EQ(create(), HOSTLER_OK);
  EXPECT_EQ(driver_.calls, 1);
}

TEST_F(MustUnderstand, ADriverInCppRefusesUnknownFlagsOfEveryCall) {
  auto info = driver::sized<hostler_set_info_req>();
  auto list = driver::sized<hostler_list_req>();
  auto destroy = driver::sized<hostler_destroy_req>();
  auto tags = driver::sized<hostler_set_tags_req>();
  info.flags = list.flags = destroy.flags = tags.flags = 0x80000000;

  EXPECT_EQ(table_.set_info(set(), &info, &op_), HOSTLER_E_UNSUPPORTED);
  EXPECT_EQ(table_.list(set(), &list, &op_), HOSTLER_E_UNSUPPORTED);
  EXPECT_EQ(table_.destroy(set(), &destroy, &op_), HOSTLER_E_UNSUPPORTED);
  EXPECT_EQ(table_.set_tags(set(), &tags, &op_), HOSTLER_E_UNSUPPORTED);
  auto group = driver::sized<hostler_quota_group_req>();
  group.type = &type_;
  group.flags = 1;
  const auto* const groups =
      static_cast<const hostler_ext_quota_group*>(table_.get_extension(HOSTLER_EXT_QUOTA_GROUP));
  EXPECT_EQ(groups->group(set(), &group, &op_), HOSTLER_E_UNSUPPORTED);
  auto config = driver::sized<hostler_set_config>();
  config.flags = 1;
  hostler_set* opened = nullptr;
  EXPECT_EQ(table_.set_open(nullptr, &config, &op_, &opened), HOSTLER_E_UNSUPPORTED);
  EXPECT_EQ(driver_.calls, 0);
}

/// Calls the function with a flag that nobody knows and then without: it is refused, then made.
template <class Request>
void expect_refused_then_made(hostler_status (*function)(hostler_set*, const Request*, hostler_op*),
                              hostler_set* set, hostler_op* op, hostler_status made = HOSTLER_OK) {
  ASSERT_NE(function, nullptr);
  auto request = driver::sized<Request>();
  request.flags = 0x80000000;
  EXPECT_EQ(function(set, &request, op), HOSTLER_E_UNSUPPORTED);
  request.flags = 0;
  EXPECT_EQ(function(set, &request, op), made);
}

TEST_F(MustUnderstand, EachExtensionOfADriverInCppRefusesWhatItDoesNotKnowToo) {
  const auto power = table_of<hostler_ext_power>(HOSTLER_EXT_POWER);
  expect_refused_then_made(power.start, set(), &op_);
  expect_refused_then_made(power.stop, set(), &op_);
  expect_refused_then_made(table_of<hostler_ext_host_key>(HOSTLER_EXT_HOST_KEY).verify, set(),
                           &op_);
  expect_refused_then_made(table_of<hostler_ext_offerings>(HOSTLER_EXT_OFFERINGS).offerings, set(),
                           &op_);
  expect_refused_then_made(table_of<hostler_ext_interruption>(HOSTLER_EXT_INTERRUPTION).watch,
                           set(), &op_, HOSTLER_PENDING);
  expect_refused_then_made(table_of<hostler_ext_console>(HOSTLER_EXT_CONSOLE).read, set(), &op_);
  const auto leftovers = table_of<hostler_ext_leftovers>(HOSTLER_EXT_LEFTOVERS);
  expect_refused_then_made(leftovers.list, set(), &op_);
  expect_refused_then_made(leftovers.destroy, set(), &op_);
  expect_refused_then_made(table_of<hostler_ext_images>(HOSTLER_EXT_IMAGES).find, set(), &op_);
  EXPECT_EQ(driver_.calls, 9);
  EXPECT_EQ(table_.get_extension(HOSTLER_EXT_PRICE_HISTORY), nullptr) << "it has none";
}

/// Nobody knows how far it has come: a machine may exist.
TEST_F(MustUnderstand, AnExceptionOfAnyKindInCppLeavesTheOutcomeUnknown) {
  driver_.is_broken = true;

  EXPECT_EQ(create(), HOSTLER_E_INTERNAL);
  EXPECT_EQ(error_.text, "a bug of the driver");
  EXPECT_EQ(error_.flags, HOSTLER_EF_OUTCOME_UNKNOWN);
}

/// What a driver makes that calls another driver.
TEST_F(MustUnderstand, ALineOfLogMayNameAnOperationThatIsNotTheHosts) {
  op_.emit = [](hostler_op*, const hostler_rec*) { return 0; };
  driver::log(host_table(), HOSTLER_LOG_DEBUG, "of another's operation", &op_);
}

/// A call whose request says something that came with ABI 1.1.
class NewCall final : public Operation {
 public:
  NewCall(Listener& listener, Awaited<bool>& sent)
      : Operation({.name = "create"}, name_, listener), sent_(sent.done()) {}

 private:
  [[nodiscard]] std::uint32_t minor_needed() const override { return 1; }
  hostler_status call_driver() override { return HOSTLER_OK; }
  bool take_record(const hostler_rec&) override { return true; }
  void deliver(std::optional<model::CloudError> failure) override {
    if (failure) return sent_(tl::unexpected(std::move(*failure)));
    sent_(true);
  }
  std::string name_ = "new";
  DriverSet::Done<bool> sent_;
};

model::CloudResult<bool> send_to_driver_of(std::uint32_t minor) {
  const auto runner = std::make_shared<CallRunner>(
      CallRunner::Options{.log_area = "t", .abi_minor = minor, .queue_max = 1, .grace = 1s});
  runner->start();
  Awaited<bool> sent;
  runner->submit(std::make_shared<NewCall>(*runner, sent), kPatience);
  auto result = sent.get();
  runner->stop();
  return result;
}

TEST(MinorTest, TheHostSendsNothingNewerThanTheMinorOfTheDriversTable) {
  const auto refused = send_to_driver_of(0);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().cls, model::CloudErrorClass::kUnsupported);
  EXPECT_THAT(refused.error().message, HasSubstr("built for ABI 1.0, this needs 1.1"));

  EXPECT_TRUE(send_to_driver_of(1));
}

TEST(ScopeTest, AnUnknownScopeOfAnErrorIsNotTheWholeSet) {
  using namespace model::scope;
  ChaosSet set("new_scope");

  const auto created = set.create();

  ASSERT_FALSE(created);
  EXPECT_EQ(created.error().scope, kType | kZone | kMarket | kOperation);
}

}  // namespace
}  // namespace hostler::plugin_host
