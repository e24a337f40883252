#include <gmock/gmock.h>

#include <fstream>

#include "core/store/connect.h"
#include "core/store/copy_rows.h"
#include "core/store/schema.h"
#include "core/store/sqlite/database.h"
#include "tests/unit/store/fixture.h"

/// The rows of leases: written, restored, read, damaged.
namespace hostler::store {
namespace {

using namespace std::chrono_literals;
using model::InstanceState;
using model::WorkState;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

class LeasesTest : public StoreFixture {
 protected:
  /// j-1 waits; l-2 waits; l-3 has h-7; l-4 has ended; h-8 is idle.
  void SetUp() override {
    StoreFixture::SetUp();
    if (IsSkipped()) return;
    auto granted = lease(3, WorkState::kRunning);
    granted.record.instance = {7};
    auto ended = lease(4, WorkState::kSucceeded);
    ended.principal = "user bob";
    must_commit({new_job(1), lease(2, WorkState::kQueued), terms_of(2), granted, granted_terms(),
                 ended, terms_of(4), instance_in(7, InstanceState::kBusy),
                 instance_in(8, InstanceState::kIdle)});
  }

  static model::WorkItem lease(std::uint64_t id, WorkState state) {
    auto item = new_work({id, kLease}, "body " + std::to_string(id));
    item.record.state = state;
    item.shape.exclusive = true;
    item.shape.constraints.types = {"small", "big"};
    item.shape.constraints.pools = {"lent", "other"};
    return item;
  }
  static model::LeaseChanged granted_terms() {
    auto out = terms_of(3);
    out.record.until = {77};
    out.record.used = false;
    out.record.ssh_keys = {"ssh-ed25519 AAAA", "sk-ssh-ed25519@openssh.com AAAB"};
    out.record.notice_command = "wall 'it ends'\necho bye";
    out.record.login = model::Login::kRoot;
    out.record.told = {66};
    return out;
  }
  std::vector<std::string> listed(const JobFilter& filter) {
    const auto page = store_->reads().jobs(filter);
    EXPECT_TRUE(page) << page.error().message;
    std::vector<std::string> out;
    for (const auto& item : page->items) out.push_back(item.record.id.text());
    return out;
  }
  model::Restored restored_after(const std::string& sql) {
    store_.reset();
    EXPECT_TRUE(connect(place(), Mode::kWrite).value()->execute(sql)) << sql;
    return reopened();
  }
  static std::vector<std::string> named(const model::Restored& restored) {
    std::vector<std::string> out;
    for (const auto& row : restored.damaged)
      out.push_back(row.table + " " + row.key + ": " + row.problem);
    return out;
  }
};
HOSTLER_ON_BOTH_ENGINES(LeasesTest);

TEST_P(LeasesTest, ARestartFindsThoseThatLiveWithTheirTerms) {
  const auto restored = reopened();

  ASSERT_THAT(restored.work, SizeIs(3));
  auto waiting = lease(2, WorkState::kQueued);
  waiting.body.reset();
  EXPECT_EQ(restored.work[1], waiting);
  EXPECT_EQ(restored.work[2].record.id.text(), "l-3");
  EXPECT_THAT(restored.leases, ElementsAre(terms_of(2).record, granted_terms().record));
  EXPECT_THAT(named(restored), IsEmpty());
}

TEST_P(LeasesTest, TheLastTermsOfALeaseReplaceTheOthers) {
  auto first = granted_terms(), last = granted_terms();
  first.record.until = {88};
  last.record.until = {99};
  last.record.term = Duration::max();
  must_commit({first, last});

  const auto found = reopened().leases.at(1);

  EXPECT_EQ(found.until, Wall{99});
  EXPECT_EQ(found.term, std::chrono::floor<std::chrono::microseconds>(Duration::max()));
}

TEST_P(LeasesTest, OneWithEachReasonOfAnEndIsRead) {
  for (const auto reason : {model::EndReason::kReturned, model::EndReason::kTerm,
                            model::EndReason::kWaitMax, model::EndReason::kInterrupted}) {
    model::WorkChanged ended{lease(3, WorkState::kFailed).record};
    ended.record.reason = reason;
    must_commit({ended});
    EXPECT_EQ(store_->reads().lease({3, kLease})->item.record.reason, reason);
  }
}

TEST_P(LeasesTest, AGrantedLeaseUsesAllOfItsHost) {
  auto host = instance_in(7, InstanceState::kBusy);
  host.record.total = {.vcpus = 4, .gpus = 1, .ram = 8, .scratch = 9};
  model::WorkChanged granted{lease(3, WorkState::kRunning).record};
  granted.record.instance = {7};
  granted.record.started = {100};
  must_commit({host, granted});

  std::vector<Use> all;
  ASSERT_TRUE(store_->reads().uses({0}, {1000}, [&](const Use& use) { all.push_back(use); }));
  ASSERT_THAT(all, SizeIs(1)) << "the others were never granted";
  EXPECT_EQ(all[0].attempt.work, (model::WorkId{3, kLease}));
  EXPECT_EQ(all[0].instance, model::InstanceId{7});
  EXPECT_EQ(all[0].needs, host.record.total);
  EXPECT_EQ(all[0].from, Wall{100});
  EXPECT_EQ(all[0].to, Wall{}) << "it is granted still";
}

TEST_P(LeasesTest, AfterARestoreThoseThatWaitAreHeldAndGrantedOnesStay) {
  store_.reset();
  std::ofstream(state() / kRestoredMark);
  Options options;
  options.go_on = Wall{1};
  open(std::move(options));

  const auto restored = store_->load();

  ASSERT_TRUE(restored) << restored.error().message;
  EXPECT_EQ(restored->work.at(1).record.state, WorkState::kHeld);
  EXPECT_EQ(restored->work.at(2).record.state, WorkState::kRunning);
  EXPECT_TRUE(restored->work[1].record.restored && restored->work[2].record.restored);
  EXPECT_THAT(restored->leases, ElementsAre(terms_of(2).record, granted_terms().record));
}

TEST_P(LeasesTest, ACopyOfTheRowsHasThem) {
  const auto folder = folder_.path() / "copy";
  std::filesystem::create_directories(folder);
  {
    const auto from = connect(place(), Mode::kRead).value();
    const auto to = sqlite::open(folder / "hostler.db", Mode::kWrite, /*busy_ms=*/0).value();
    ASSERT_TRUE(migrate(*to));
    ASSERT_TRUE(copy_rows(*from, *to));
  }

  auto copy = Store::open(folder, {});

  ASSERT_TRUE(copy) << copy.error().message;
  EXPECT_THAT((*copy)->load()->leases, ElementsAre(terms_of(2).record, granted_terms().record));
}

// ---- reads --------------------------------------------------------------------------------------

TEST_P(LeasesTest, OneIsReadWithItsTerms) {
  const auto& reads = store_->reads();

  const auto found = reads.lease({3, kLease});

  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->terms, granted_terms().record);
  EXPECT_EQ(*found->item.body, "body 3");
  EXPECT_EQ(found->item.shape, lease(3, WorkState::kRunning).shape);
  EXPECT_EQ(reads.lease({3, kLease}, /*with_body=*/false)->item.body, nullptr);
  EXPECT_EQ(reads.lease({9, kLease}).error().code, Errc::kNotFound);
  EXPECT_EQ(reads.lease({1, kLease}).error().code, Errc::kNotFound) << "it is a job";
  EXPECT_EQ(reads.lease({3}).error().code, Errc::kNotFound);
}

TEST_P(LeasesTest, AListIsOfOneKindByEveryFilter) {
  EXPECT_THAT(listed({}), ElementsAre("j-1"));
  EXPECT_THAT(listed({.kind = kLease}), ElementsAre("l-2", "l-3", "l-4"));
  EXPECT_THAT(listed({.kind = kLease, .newest_first = true, .limit = 2}),
              ElementsAre("l-4", "l-3"));
  EXPECT_THAT(listed({.kind = kLease, .states = {WorkState::kQueued, WorkState::kRunning}}),
              ElementsAre("l-2", "l-3"));
  EXPECT_THAT(listed({.kind = kLease, .principal = "user bob"}), ElementsAre("l-4"));
  EXPECT_THAT(listed({.kind = kLease, .states = {WorkState::kRunning}, .principal = "user root"}),
              ElementsAre("l-3"));
  EXPECT_THAT(listed({.kind = kLease, .after = {3, kLease}}), ElementsAre("l-4"));
}

// Bug: a list of 10,000 leases had the keys and the notice commands of all in memory.
TEST_P(LeasesTest, TermsOfManyAreReadWithoutTheirTexts) {
  auto granted = granted_terms().record, waiting = terms_of(2).record;
  ASSERT_FALSE(granted.ssh_keys.empty() || granted.notice_command.empty());
  for (model::LeaseRecord* one : {&granted, &waiting}) {
    one->ssh_keys.clear();
    one->notice_command.clear();
  }
  const auto terms = store_->reads().lease_terms({{2, kLease}, {3, kLease}, {9, kLease}});

  ASSERT_TRUE(terms) << terms.error().message;
  EXPECT_THAT(*terms, ElementsAre(testing::Pair(model::WorkId{2, kLease}, waiting),
                                  testing::Pair(model::WorkId{3, kLease}, granted)));
  EXPECT_THAT(*store_->reads().lease_terms({}), IsEmpty());
}

// ---- damaged rows -------------------------------------------------------------------------------

TEST_P(LeasesTest, OneWithDamagedTermsIsSetAsideAndNobodyElseGetsItsHost) {
  for (const auto& [value, problem] : std::vector<std::pair<std::string, std::string>>{
           {"used = 2", "used is 2"},
           {"used = 1, term_us = -1", "term_us is -1"},
           {"term_us = 1, wait_max_us = 9223372036854775807",
            "wait_max_us is 9223372036854775807"}}) {
    const auto restored = restored_after("UPDATE leases SET " + value + " WHERE id = 3");

    EXPECT_THAT(named(restored),
                ElementsAre("leases l-3: " + problem, "instances h-7: its lease l-3 is damaged"));
    ASSERT_THAT(restored.work, SizeIs(2));
    EXPECT_EQ(restored.work[1].record.id.text(), "l-2");
    EXPECT_THAT(restored.leases, ElementsAre(terms_of(2).record));
    ASSERT_THAT(restored.instances, SizeIs(1));
    EXPECT_EQ(restored.instances[0].record.id, model::InstanceId{8});
    EXPECT_EQ(restored.damaged.at(1).instance->set, "local") << "it counts for ceilings";
  }
}

TEST_P(LeasesTest, OneWithoutARowOrWithADamagedOneOfAllWorkIsSetAsideToo) {
  const std::string host = "instances h-7: its lease l-3 is damaged";
  auto restored = restored_after("UPDATE work SET state = 99 WHERE id = 3");
  EXPECT_THAT(named(restored), ElementsAre("work l-3: state is 99", host));
  EXPECT_THAT(restored.leases, ElementsAre(terms_of(2).record));

  restored = restored_after(
      "UPDATE work SET state = 2 WHERE id = 3; "
      "UPDATE work_specs SET exclusive = 5 WHERE id = 3");
  EXPECT_THAT(named(restored), ElementsAre("work_specs l-3: exclusive is 5", host));

  restored = restored_after(
      "UPDATE work_specs SET exclusive = 1 WHERE id = 3; "
      "DELETE FROM leases WHERE id = 3");
  EXPECT_THAT(named(restored), ElementsAre("leases l-3: there is no such row", host));
  EXPECT_THAT(restored.work, SizeIs(2));
  EXPECT_EQ(store_->reads().lease({3, kLease}).error().code, Errc::kInternal);
  EXPECT_THAT(store_->reads().lease({3, kLease}).error().message,
              testing::HasSubstr("row l-3 of table leases is damaged"));
}

// Bug: it was a job, which had lost its host, and others got the host.
TEST_P(LeasesTest, OneThatIsOfAnotherKindByItsRowIsSetAsideWithItsHost) {
  const std::string host = "instances h-7: its lease l-3 is damaged";
  for (const auto& [kind, row] : std::vector<std::pair<std::string, std::string>>{
           {"0", "work l-3: it has the terms of a lease, and is none"},
           {"2", "work l-3: it has the terms of a lease, and is none"},
           {"9", "work j-3: kind is 9"}}) {
    const auto restored = restored_after("UPDATE work SET kind = " + kind + " WHERE id = 3");

    EXPECT_THAT(named(restored), ElementsAre(row, host));
    EXPECT_THAT(restored.work, SizeIs(2));
    EXPECT_THAT(restored.leases, ElementsAre(terms_of(2).record));
    ASSERT_THAT(restored.instances, SizeIs(1));
    EXPECT_EQ(restored.instances[0].record.id, model::InstanceId{8});
  }
}

// Bug: the lease was set aside or ended, and others got its host.
TEST_P(LeasesTest, OneWhoseHostCannotBeReadIsSetAsideWithEachHostThatMayBeIt) {
  const std::string host = "instances h-7: perhaps it is lent to l-3, which is damaged";
  auto restored = restored_after("UPDATE work SET instance = -5 WHERE id = 3");
  EXPECT_THAT(named(restored), ElementsAre("work l-3: instance is -5", host));
  ASSERT_THAT(restored.instances, SizeIs(1)) << "h-8 is idle";
  EXPECT_EQ(restored.instances[0].record.id, model::InstanceId{8});
  EXPECT_EQ(restored.damaged.at(1).instance->set, "local") << "it counts for ceilings";

  restored = restored_after("UPDATE work SET instance = 99 WHERE id = 3");
  EXPECT_THAT(named(restored), ElementsAre("work l-3: its instance h-99 is not there", host));
  EXPECT_THAT(restored.work, SizeIs(2));
  EXPECT_THAT(restored.leases, ElementsAre(terms_of(2).record));

  restored = restored_after(
      "UPDATE work SET instance = -5 WHERE id = 2; "
      "UPDATE work SET instance = 7 WHERE id = 3");
  EXPECT_THAT(named(restored), ElementsAre("work l-2: instance is -5"))
      << "one that waits has no host";
}

}  // namespace
}  // namespace hostler::store
