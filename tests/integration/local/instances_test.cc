// Making, finding and ending instances, as a host sees it through the C ABI.

#include <signal.h>
#include <unistd.h>

#include <thread>

#include "folder/files.h"
#include "tests/integration/local/fixture.h"

namespace hostler::local::test {
namespace {

using InstancesTest = LocalTest;

TEST_F(InstancesTest, AnswersByItsOwnKeyAndRunsWhatItIsSent) {
  open();
  const Seen instance = boot("key-1");

  EXPECT_EQ(instance.state, HOSTLER_STATE_RUNNING);
  EXPECT_EQ(state_of(instance).generation, 1);
  EXPECT_EQ(instance.key, "key-1");
  EXPECT_EQ(instance.set_id, "set-a");
  EXPECT_EQ(instance.address.substr(0, 4), "127.");
  EXPECT_EQ(set->verify(instance.id, host_key(instance)).status, HOSTLER_OK);
  EXPECT_EQ(set->verify(instance.id, read_file(scratch.path() + "/login.pub").value()).status,
            HOSTLER_E_KEY_MISMATCH);
  EXPECT_EQ(ssh(instance, "echo hello").output, "hello\n");
}

TEST_F(InstancesTest, TellsSessionsWhereTheyAre) {
  open();
  const Seen instance = boot("key-1");

  const std::string said =
      ssh(instance, "echo $HOSTLER_HOST_KEY $HOSTLER_AGENT_DIR $HOME; echo $HOSTLER_BOOT_ID")
          .output;

  const std::string at = folder(instance);
  EXPECT_EQ(said.find(at + "/host_key " + at + "/agent " + at + "/home\n"), 0U) << said;
  EXPECT_EQ(ssh(instance, "printf %s \"$HOSTLER_BOOT_ID\" | wc -c").output, "32\n");
  EXPECT_EQ(ssh(instance, "test -w \"$HOSTLER_AGENT_DIR\" && test -r \"$HOSTLER_HOST_KEY\"").status,
            0);
  EXPECT_EQ(ssh(instance, "echo $HOSTLER_RAM").output, "0\n")
      << "all share the RAM of this machine";
}

TEST_F(InstancesTest, RunsUserDataOnceAndForgetsIt) {
  open();
  Create create = wish("key-1");
  create.user_data = "#!/bin/sh\necho data >> \"$HOSTLER_AGENT_DIR/ran\"\n";
  const Seen instance = boot(create);

  EXPECT_TRUE(reach(instance, "grep -q data $HOSTLER_AGENT_DIR/ran"));
  EXPECT_TRUE(eventually([&] { return !is_there(folder(instance) + "/user_data"); }));
  set->stop(instance.id);
  ASSERT_TRUE(becomes(instance.id, HOSTLER_STATE_STOPPED));
  set->start(instance.id);
  ASSERT_TRUE(reach(instance));
  EXPECT_EQ(ssh(instance, "wc -l < $HOSTLER_AGENT_DIR/ran").output, "1\n");
}

TEST_F(InstancesTest, ShowsTheHostKeyThatWasDelivered) {
  open();
  ASSERT_EQ(run({"ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "us", "-f",
                 scratch.path() + "/ours"})
                .status,
            0);
  Create create = wish("key-1");
  create.host_key_private = read_file(scratch.path() + "/ours").value();
  create.host_key_public = read_file(scratch.path() + "/ours.pub").value();
  const Seen instance = boot(create);

  EXPECT_EQ(host_key(instance) + " us\n", create.host_key_public);
  EXPECT_EQ(set->verify(instance.id, create.host_key_public).status, HOSTLER_OK);
  EXPECT_NE(set->info().capabilities & HOSTLER_CAP_HOST_KEY_INJECT, 0U);
}

TEST_F(InstancesTest, MakesOneInstanceForOneKeyHoweverOftenAndFromHoweverMany) {
  open();
  std::vector<Outcome> outcomes(8);
  std::vector<std::thread> callers;
  for (Outcome& outcome : outcomes)
    callers.emplace_back([&] { outcome = set->create(wish("key-1")); });
  for (std::thread& caller : callers) caller.join();

  for (const Outcome& outcome : outcomes) {
    ASSERT_EQ(outcome.status, HOSTLER_OK) << outcome.message;
    ASSERT_FALSE(outcome.instances.empty());
    EXPECT_EQ(outcome.instances.front().id, outcomes[0].instances.front().id);
  }
  EXPECT_EQ(set->list().instances.size(), 1U);

  Create other = wish("key-1");
  other.type = "large";
  EXPECT_EQ(set->create(other).status, HOSTLER_E_CONFLICT);
}

TEST_F(InstancesTest, IsTheSameAfterTheDriverWasOpenedAnew) {
  open();
  const Seen before = boot("key-1");

  open();

  const Outcome again = set->create(wish("key-1"));
  ASSERT_EQ(again.status, HOSTLER_OK) << again.message;
  EXPECT_EQ(again.instances.front().id, before.id);
  EXPECT_EQ(again.instances.front().address, before.address);
  EXPECT_EQ(state_of(again.instances.front()).generation, 1);
  EXPECT_EQ(set->look(before.id).state, HOSTLER_STATE_RUNNING);
}

TEST_F(InstancesTest, LeavesNothingWhenItIsDestroyedWithItsJobsAndOrphans) {
  open();
  const Seen instance = boot("key-1");
  ASSERT_EQ(ssh(instance,
                "cd $HOSTLER_AGENT_DIR; for i in 1 2 3; do (setsid sleep 1000 & ) ; done"
                " >/dev/null 2>&1; mkdir -p deep; chmod 0 deep; touch file")
                .status,
            0);
  ASSERT_FALSE(processes_of(folder(instance)).empty());
  const pid_t supervisor = state_of(instance).keeper.pid;  // lets go of all, then ends

  EXPECT_EQ(set->destroy(instance.id).status, HOSTLER_OK);

  EXPECT_TRUE(becomes(instance.id, HOSTLER_STATE_GONE));
  EXPECT_FALSE(is_there(folder(instance)));
  // A list may have started one more supervisor, which finds no folder and ends.
  EXPECT_TRUE(eventually([&] { return processes_of(folder(instance), supervisor).empty(); }));
  EXPECT_EQ(set->destroy(instance.id).status, HOSTLER_OK) << "twice is as good as once";
  EXPECT_EQ(set->destroy("i-nobody").status, HOSTLER_OK);
  EXPECT_EQ(set->destroy("../../etc").status, HOSTLER_OK);
}

// Bug: it was listed no more, its job ran on, and the job was started a second time.
TEST_F(InstancesTest, StaysListedWithoutItsFolderUntilItsLastProcessHasEnded) {
  open();
  const Seen instance = boot("key-1");
  const pid_t keeper = state_of(instance).keeper.pid;
  ASSERT_EQ(run({"rm", "-rf", folder(instance)}).status, 0);

  open();
  ASSERT_EQ(set->list({}, {{"hostler-key", "key-1"}}).instances.size(), 1U);
  EXPECT_EQ(set->look(instance.id).state, HOSTLER_STATE_RUNNING);
  EXPECT_EQ(set->look(instance.id).address, instance.address);
  EXPECT_NE(set->look(instance.id).reason, "");
  EXPECT_EQ(set->create(wish("key-1")).instances.front().state, HOSTLER_STATE_RUNNING);
  EXPECT_FALSE(is_there(folder(instance))) << "not made a second time";

  ASSERT_EQ(::kill(keeper, SIGKILL), 0);
  EXPECT_TRUE(eventually([&] { return set->list().instances.empty(); }));
  EXPECT_EQ(processes_of(folder(instance)), std::vector<std::string>{});
}

TEST_F(InstancesTest, EndsEveryProcessOfADestroyedInstanceWithoutAFolder) {
  open();
  const Seen instance = boot("key-1");
  ASSERT_EQ(run({"rm", "-rf", folder(instance)}).status, 0);

  EXPECT_EQ(set->destroy(instance.id).status, HOSTLER_OK);

  EXPECT_TRUE(becomes(instance.id, HOSTLER_STATE_GONE));
  EXPECT_EQ(processes_of(folder(instance)), std::vector<std::string>{});
  EXPECT_EQ(set->create(wish("key-1")).instances.front().state, HOSTLER_STATE_GONE);
}

TEST_F(InstancesTest, SaysHowSoonListsShowAChange) {
  open();
  EXPECT_GT(set->info().list_consistency_ms, 0U);
}

TEST_F(InstancesTest, MakesNoneForAKeyThatIsGone) {
  open();
  const Seen instance = boot("key-1");
  set->destroy(instance.id);
  ASSERT_TRUE(becomes(instance.id, HOSTLER_STATE_GONE));

  const Outcome again = set->create(wish("key-1"));
  ASSERT_EQ(again.status, HOSTLER_OK);
  EXPECT_EQ(again.instances.front().state, HOSTLER_STATE_GONE);

  EXPECT_EQ(set->destroy("", "key-2").status, HOSTLER_OK) << "never seen";
  EXPECT_EQ(set->create(wish("key-2")).instances.front().state, HOSTLER_STATE_GONE);
  EXPECT_TRUE(set->list().instances.empty());
}

TEST_F(InstancesTest, ListsByIdsAndTagsAndKeepsTags) {
  open();
  Create red = wish("key-red");
  red.tags["colour"] = "red";
  const std::string red_id = set->create(red).instances.front().id;
  const std::string plain_id = set->create(wish("key-plain")).instances.front().id;

  EXPECT_EQ(set->list().instances.size(), 2U);
  ASSERT_EQ(set->list({}, {{"colour", "red"}}).instances.size(), 1U);
  EXPECT_EQ(set->list({}, {{"colour", "red"}}).instances[0].id, red_id);
  EXPECT_EQ(set->list({plain_id, "i-0123456789abcdef"}).instances.size(), 1U);

  EXPECT_EQ(set->set_tags(plain_id, {{"colour", "new\nline"}, {"hostler-key", "x"}}).status,
            HOSTLER_OK);
  EXPECT_EQ(set->look(plain_id).tags["colour"], "new\nline");
  EXPECT_EQ(set->look(plain_id).tags["hostler-key"], "key-plain");
  EXPECT_EQ(set->set_tags(red_id, {{"a", ""}}).status, HOSTLER_OK);
  EXPECT_EQ(set->look(red_id).tags.at("colour"), "red");
  EXPECT_EQ(set->look(red_id).tags.at("a"), "");
  EXPECT_EQ(set->set_tags("i-0123456789abcdef", {}).status, HOSTLER_E_NOT_FOUND);
  EXPECT_EQ(set->set_tags(red_id, {{"two words", ""}}).status, HOSTLER_E_INVALID);
}

TEST_F(InstancesTest, KeepsTheInstancesOfAnotherSet) {
  open();
  const std::string id = set->create(wish("key-1")).instances.front().id;

  EXPECT_EQ(set->destroy(id, "", "set-b").status, HOSTLER_E_CONFLICT);
  EXPECT_NE(set->look(id).state, HOSTLER_STATE_TERMINATING);
}

TEST_F(InstancesTest, HasANewBootIdAtEachStart) {
  open();
  const Seen first = boot("key-1");
  const std::string boot_1 = ssh(first, "echo $HOSTLER_BOOT_ID; touch ~/keep").output;
  EXPECT_EQ(set->start(first.id).status, HOSTLER_OK) << "it runs already";
  EXPECT_EQ(state_of(first).generation, 1);
  const pid_t supervisor = state_of(first).keeper.pid;  // lets go of all, then ends

  EXPECT_EQ(set->stop(first.id).status, HOSTLER_OK);
  ASSERT_TRUE(becomes(first.id, HOSTLER_STATE_STOPPED));
  EXPECT_EQ(processes_of(folder(first), supervisor), std::vector<std::string>{});
  EXPECT_EQ(set->stop(first.id).status, HOSTLER_OK);
  EXPECT_EQ(set->start(first.id).status, HOSTLER_OK);

  ASSERT_TRUE(reach(first));
  const Seen second = set->look(first.id);
  EXPECT_EQ(state_of(second).generation, 2);
  EXPECT_EQ(second.address, first.address);
  const std::string boot_2 = ssh(second, "echo $HOSTLER_BOOT_ID").output;
  EXPECT_EQ(boot_2.size(), 33U);
  EXPECT_NE(boot_1, boot_2);
  EXPECT_EQ(ssh(second, "ls ~").output, "keep\n") << "its disk is kept";
}

TEST_F(InstancesTest, BootsFiftyAtOnce) {
  open();
  std::vector<Outcome> outcomes(50);
  std::vector<std::thread> callers;
  for (std::size_t caller = 0; caller < 10; ++caller)
    callers.emplace_back([&, caller] {
      for (std::size_t i = caller; i < outcomes.size(); i += 10)
        outcomes[i] = set->create(wish("key-" + std::to_string(i)));
    });
  for (std::thread& caller : callers) caller.join();

  for (const Outcome& outcome : outcomes) {
    ASSERT_EQ(outcome.status, HOSTLER_OK) << outcome.message;
    EXPECT_TRUE(eventually([&] { return answers(outcome.instances.front()); }));
  }
  EXPECT_EQ(set->list().instances.size(), 50U);
}

}  // namespace
}  // namespace hostler::local::test
