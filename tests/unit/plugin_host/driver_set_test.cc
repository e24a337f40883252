// Runs with the driver in this process, and in one of its own.
#include "tests/unit/plugin_host/chaos_set.h"

namespace hostler::plugin_host {
namespace {

/// For a call to begin, also on a busy machine.
constexpr Duration kLongEnough = std::chrono::milliseconds(300);

using model::CloudErrorClass;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(DriverSetTest, ReportsTheLimitsOfTheAccount) {
  const ChaosSet set("");

  ASSERT_TRUE(set.opened()) << set.opened().error().message;
  EXPECT_EQ(set.opened()->account_id, "account-1");
  EXPECT_EQ(set.opened()->list_consistency, 1500ms);
  EXPECT_TRUE(set.opened()->spot);
  EXPECT_FALSE(set.opened()->stop);
  EXPECT_EQ(set.opened()->max_concurrency, 4U) << "the driver's limit, since the account has none";
  EXPECT_TRUE(set.opened()->has_host_key_extension);
  EXPECT_TRUE(set.opened()->has_price_history);
  EXPECT_TRUE(set.opened()->has_leftovers);
}

TEST(DriverSetTest, CreatesListsAndDestroys) {
  ChaosSet set("");

  const auto created = set.create();
  const auto listed = set.list();
  Awaited<DriverSet::Nothing> destroyed;
  set->destroy({.id = created->id, .expected_set_id = "s1", .idempotency_key = ""}, kPatience,
               destroyed.done());
  ASSERT_TRUE(destroyed.get());
  const auto left = set.list();

  ASSERT_TRUE(created && listed && left);
  EXPECT_EQ(created->id, "i-key-1");
  EXPECT_EQ(created->idempotency_key, "key-1");
  EXPECT_EQ(created->state, model::CloudState::kPending);
  EXPECT_FALSE(created->price_per_hour.has_value());
  EXPECT_EQ(listed->size(), 1U);
  EXPECT_TRUE(left->empty());
  EXPECT_EQ(set->health().broken_rules, 0U);
}

TEST(DriverSetTest, ReadsHostlersOwnTags) {
  ChaosSet set("tagged");

  const auto created = set.create();

  ASSERT_TRUE(created);
  EXPECT_EQ(created->type, "small");
  EXPECT_EQ(created->pool, "default");
  EXPECT_EQ(created->idle, "hold");
}

TEST(DriverSetTest, RefusesCallsBeforeItIsOpen) {
  ChaosSet set("open_refused");

  ASSERT_FALSE(set.opened());
  EXPECT_EQ(set.opened().error().cls, CloudErrorClass::kInvalid);
  EXPECT_EQ(set.opened().error().message,
            "driver 'fake_chaos': set_open: config.region is missing");
  const auto listed = set.list();
  ASSERT_FALSE(listed);
  EXPECT_THAT(listed.error().message, HasSubstr("the set is not open"));
}

TEST(DriverSetTest, AcceptsCompletionBeforeAndAfterTheFunctionReturns) {
  for (const char* word : {"early", "later"}) {
    ChaosSet set(word);

    const auto created = set.create();

    ASSERT_TRUE(created) << word << ": " << created.error().message;
    EXPECT_EQ(created->id, "i-key-1");
    EXPECT_EQ(set->health().broken_rules, 0U) << set->health().last_broken_rule;
  }
}

TEST(DriverSetTest, PassesOnTheFirstRecordOfACreateThatHasNotReturned) {
  ChaosSet set("block");
  Awaited<model::ListedInstance> created;
  std::promise<std::string> seen;

  set->create(
      ChaosSet::request(), kPatience,
      [&](const model::ListedInstance& record) { seen.set_value(record.id); }, created.done());
  auto early = seen.get_future();
  ASSERT_EQ(early.wait_for(kPatience), std::future_status::ready);
  const bool ended_before = created.has_arrived();
  set.release();

  EXPECT_EQ(early.get(), "i-key-1");
  EXPECT_FALSE(ended_before);
  EXPECT_TRUE(created.get());
}

TEST(DriverSetTest, FailedCreateWithAKnownInstanceIsOutcomeUnknown) {
  ChaosSet set("fail_after_id");

  const auto created = set.create();

  ASSERT_FALSE(created);
  EXPECT_EQ(created.error().cls, CloudErrorClass::kTransient);
  EXPECT_TRUE(created.error().outcome_unknown);
}

TEST(DriverSetTest, CancelsACallAtItsDeadline) {
  ChaosSet set("cancellable");

  const auto created = set.create(kLongEnough);

  ASSERT_FALSE(created);
  EXPECT_EQ(created.error().cls, CloudErrorClass::kTimeout);
  EXPECT_THAT(created.error().message, HasSubstr("given up as told (its deadline has passed)"));
  EXPECT_EQ(set->health().hung_calls, 0U);
}

TEST(DriverSetTest, KeepsTheIdThatACancelledCreateStillEmits) {
  ChaosSet set("cancelled_after_id");
  Awaited<model::ListedInstance> created;
  std::string seen;

  set->create(
      ChaosSet::request(), kLongEnough,
      [&](const model::ListedInstance& record) { seen = record.id; }, created.done());
  const auto result = created.get();

  ASSERT_FALSE(result);
  EXPECT_TRUE(result.error().outcome_unknown);
  EXPECT_EQ(seen, "i-key-1");
}

TEST(DriverSetTest, ReservesASlotForListAndDestroy) {
  ChaosSet set("block");
  std::vector<Awaited<model::ListedInstance>> creates(8);  // the driver allows four calls at once
  for (auto& create : creates) set->create(ChaosSet::request(), kPatience, {}, create.done());

  const auto listed = set.list();
  const bool creates_wait = !creates[0].has_arrived() && !creates[7].has_arrived();

  EXPECT_TRUE(listed);
  EXPECT_TRUE(creates_wait);
  set.release();
  for (auto& create : creates) EXPECT_TRUE(create.get());
}

TEST(DriverSetTest, NeverSendsMoreCallsAtOnceThanTheDriverAllows) {
  for (const std::string driver : {"fake_serial_set", "fake_serial_driver"}) {
    ChaosSet one("", {}, driver), two("peak", {}, driver);
    std::vector<Awaited<model::ListedInstance>> creates(50);
    for (auto& create : creates) {
      (driver == "fake_serial_driver" && &create - creates.data() < 25 ? two : one)
          ->create(ChaosSet::request(), kPatience, {}, create.done());
    }
    for (auto& create : creates) ASSERT_TRUE(create.get());

    const auto peak = two.list();

    ASSERT_TRUE(peak);
    EXPECT_EQ(peak->at(0).created.us, 1) << driver << " tells the peak so";
  }
}

TEST(DriverSetTest, EndsCallsThatGetNoSlotInTimeWithoutSendingThem) {
  ChaosSet set("block", {}, "fake_serial_set");
  Awaited<model::ListedInstance> first;
  std::promise<void> inside;
  set->create(
      ChaosSet::request(), kPatience, [&](const auto&) { inside.set_value(); }, first.done());
  inside.get_future().wait();

  const auto second = set.create(10ms);
  set.release();

  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().cls, CloudErrorClass::kTimeout);
  EXPECT_FALSE(second.error().outcome_unknown);
  EXPECT_THAT(second.error().message, HasSubstr("not sent"));
  EXPECT_TRUE(first.get());
}

TEST(DriverSetTest, ClosingCancelsRunningCallsAndDeliversAResultForEach) {
  ChaosSet set("cancellable");
  std::vector<Awaited<model::ListedInstance>> creates(8);
  for (auto& create : creates) set->create(ChaosSet::request(), kPatience, {}, create.done());

  set.close();

  for (auto& create : creates) {
    ASSERT_TRUE(create.has_arrived());
    EXPECT_EQ(create.get().error().cls, CloudErrorClass::kCancelled);
  }
}

TEST(DriverSetTest, CallbacksRunOneAfterAnotherInTheOrderOfTheEnds) {
  ChaosSet set("");
  std::vector<std::string> order;  // Without a lock: callbacks never run at the same time.
  Awaited<model::ListedInstance> created;

  set->create(
      ChaosSet::request(), kPatience, [&](const auto&) { order.push_back("record"); },
      [&, done = created.done()](auto result) {
        order.push_back("done");
        done(std::move(result));
      });
  ASSERT_TRUE(created.get());

  EXPECT_THAT(order, ElementsAre("record", "done"));
}

TEST(DriverSetTest, CallsExtensionsThatTheDriverHasAndReportsOthersAsUnsupported) {
  ChaosSet set("");
  Awaited<DriverSet::Nothing> good, bad, started;
  Awaited<std::string> group;

  set->verify_host_key({"i-1", "ssh-ed25519", "blob"}, kPatience, good.done());
  set->verify_host_key({"i-1", "ssh-rsa", "blob"}, kPatience, bad.done());
  set->quota_group(ChaosSet::request().type, kPatience, group.done());
  set->start({"i-1", "s1"}, kPatience, started.done());

  EXPECT_TRUE(good.get());
  EXPECT_EQ(bad.get().error().cls, CloudErrorClass::kKeyMismatch);
  EXPECT_EQ(*group.get(), "p.small");
  const auto not_there = started.get();
  EXPECT_EQ(not_there.error().cls, CloudErrorClass::kUnsupported);
  EXPECT_THAT(not_there.error().message, HasSubstr("no hostler.power/1"));
}

TEST(DriverSetTest, ALineOfLogNamesDriverSetAndCall) {
  testing::internal::CaptureStderr();

  ChaosSet set("logs", {.set = "east"});
  auto request = ChaosSet::request();
  request.host_instance_id = "h-7";
  Awaited<model::ListedInstance> created;
  set->create(request, kPatience, {}, created.done());
  EXPECT_TRUE(created.get());
  Awaited<DriverSet::Nothing> destroyed;
  set->destroy({"i-key-1", "s1", "key-1"}, kPatience, destroyed.done());
  EXPECT_TRUE(destroyed.get());

  const std::string lines = testing::internal::GetCapturedStderr();
  EXPECT_THAT(lines, HasSubstr("warning driver fake_chaos, set east: set_open: opened"));
  EXPECT_THAT(lines, HasSubstr("set east: create h-7: making")) << "which one";
  EXPECT_THAT(lines, HasSubstr("set east: destroy i-key-1: ending"));
}

TEST(DriverSetTest, AnInstanceHasTheAddressThatItsSetAsksFor) {
  using enum model::AddressChoice;
  const auto address = [](model::AddressChoice choice, const std::string& key) {
    ChaosSet set("", {.address = choice});
    auto request = ChaosSet::request();
    request.idempotency_key = key;
    Awaited<model::ListedInstance> created;
    set->create(request, kPatience, {}, created.done());
    return created.get()->address;
  };

  EXPECT_EQ(address(kAny, "key-1"), "first.example");
  EXPECT_EQ(address(kPrivate, "key-1"), "10.0.0.7") << "the first of them";
  EXPECT_EQ(address(kPublic, "key-1"), "192.0.2.7");
  EXPECT_EQ(address(kPrivate, "key-public"), "") << "it has none, and no other is taken for it";
}

TEST(DriverSetTest, ACreateSaysWhereInTheCloudItIsPutAndThatItsUserDataIsCompressed) {
  ChaosSet set("echo");
  auto request = ChaosSet::request();
  request.subnet = "subnet-a";
  request.placement.security_groups = {"sg-1", "sg-2"};
  request.placement.profiles = {"default", "big"};
  request.type.provider_params_json = R"({"a":1})";
  request.user_data_format = model::UserDataFormat::kSh;
  request.user_data = std::string("\x1f\x8b\0", 3);
  request.user_data_gzip = true;
  Awaited<model::ListedInstance> created;

  set->create(request, kPatience, {}, created.done());

  EXPECT_EQ(created.get()->state_reason,
            "subnet subnet-a, group sg-1, group sg-2, profile default, profile big, params "
            "{\"a\":1}, gzip of 3");
}

TEST(DriverSetTest, ACreateSaysThatItsUserDataIsOfParts) {
  ChaosSet set("echo");
  auto request = ChaosSet::request();
  request.user_data_format = model::UserDataFormat::kMime;
  request.user_data = "MIME-Version: 1.0\n";
  Awaited<model::ListedInstance> created;

  set->create(request, kPatience, {}, created.done());

  EXPECT_THAT(created.get()->state_reason, testing::EndsWith(", of parts"));
}

TEST(DriverSetTest, ACreateSaysWhatElseTheCloudIsToGiveTheInstance) {
  ChaosSet set("echo");
  auto request = ChaosSet::request();
  request.placement.placement_group = "pg";
  request.placement.capacity_reservation = "cr";
  request.placement.identity_profile = "ip";
  request.placement.tenancy = model::Tenancy::kHost;
  request.placement.public_address = model::PublicAddress::kYes;
  request.remote_user = "jane";
  Awaited<model::ListedInstance> created;

  set->create(request, kPatience, {}, created.done());

  EXPECT_THAT(
      created.get()->state_reason,
      HasSubstr("placement group pg, reservation cr, identity ip, tenancy 2, public 1, user jane"));
}

TEST(DriverSetTest, ACreateAsksForTheDisksWhoseSizeIsConfigured) {
  const auto said = [](std::int64_t root, std::int64_t added) {
    ChaosSet set("echo");
    auto request = ChaosSet::request();
    request.placement.root_disk = root;
    request.type.added_scratch = added;
    Awaited<model::ListedInstance> created;
    set->create(request, kPatience, {}, created.done());
    return created.get()->state_reason;
  };

  EXPECT_THAT(said(20, 30), HasSubstr(", disk 1 of 20, disk 2 of 30, "));
  EXPECT_THAT(said(0, 30), HasSubstr("subnet , disk 2 of 30, "));
  EXPECT_THAT(said(0, 0), testing::Not(HasSubstr("disk")));
}

TEST(DriverSetTest, AnInstanceSaysOfWhatItDied) {
  ChaosSet set("");

  const auto created = set.create();

  ASSERT_TRUE(created) << created.error().message;
  EXPECT_EQ(created->state_error, "Server.Error: no disk") << "one line";
}

TEST(DriverSetTest, LimitsTheZoneOfAPriceSinceItIsAKeyInTheStore) {
  const auto prices_of = [](const char* word) {
    ChaosSet set(word);
    Awaited<std::vector<model::ZonePrice>> prices;
    set->price_history({}, kPatience, prices.done());
    return prices.get();
  };

  const auto longest = prices_of("zone of 63");
  const auto too_long = prices_of("zone of 64");

  ASSERT_TRUE(longest) << longest.error().message;
  EXPECT_EQ(longest->at(0).zone, std::string(63, 'z'));
  ASSERT_FALSE(too_long);
  EXPECT_THAT(too_long.error().message, HasSubstr("a price's zone of more than 63 bytes"));
}

}  // namespace
}  // namespace hostler::plugin_host
