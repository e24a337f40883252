// Whoever is killed, nothing of an instance is left behind, and the listing tells the truth.

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "folder/files.h"
#include "tests/integration/local/fixture.h"

namespace hostler::local::test {
namespace {

/// Both ways to hold an instance together.
class KillsTest : public LocalTest, public ::testing::WithParamInterface<const char*> {
 protected:
  void SetUp() override {
    LocalTest::SetUp();
    if (IsSkipped()) return;
    const Outcome opened = DriverHost::try_open(config(confinement()));
    if (opened.status != HOSTLER_OK) GTEST_SKIP() << opened.message;
    open(confinement());
  }
  static std::string confinement() {
    return std::string(R"("confinement": ")") + GetParam() + "\"";
  }

  /// An instance in which jobs, orphans and a session run.
  Seen boot_busy() {
    const Seen instance = boot("key-1");
    ssh(instance,
        "for i in 1 2 3; do (setsid sh -c 'sleep 1000; :' &) ; done </dev/null >/dev/null 2>&1");
    EXPECT_GE(processes_of(folder(instance)).size(), 6U);
    return instance;
  }
  bool is_empty(const Seen& instance) {
    return eventually([&] { return processes_of(folder(instance)).empty(); });
  }
};

TEST_P(KillsTest, EndsEverythingWhenTheKeeperIsKilled) {
  const Seen instance = boot_busy();

  ASSERT_EQ(::kill(state_of(instance).keeper.pid, SIGKILL), 0);

  EXPECT_TRUE(becomes(instance.id, HOSTLER_STATE_FAILED));
  EXPECT_TRUE(is_empty(instance));
  EXPECT_NE(set->look(instance.id).reason, "");
}

TEST_P(KillsTest, EndsEverythingWhenTheMachineIsKilled) {
  const Seen instance = boot_busy();

  ASSERT_EQ(::kill(state_of(instance).machine.pid, SIGKILL), 0);

  EXPECT_TRUE(becomes(instance.id, HOSTLER_STATE_FAILED));
  EXPECT_TRUE(is_empty(instance));
  EXPECT_EQ(set->look(instance.id).reason, "its supervisor was killed by signal 9");
}

TEST_P(KillsTest, LeavesNothingWhenBothAreKilledAndItIsDestroyed) {
  const Seen instance = boot_busy();
  const State state = state_of(instance);

  ::kill(state.keeper.pid, SIGSTOP);  // so that neither sees the other go
  ::kill(state.machine.pid, SIGSTOP);
  ::kill(state.keeper.pid, SIGKILL);
  ::kill(state.machine.pid, SIGKILL);
  EXPECT_EQ(set->destroy(instance.id).status, HOSTLER_OK);

  EXPECT_TRUE(becomes(instance.id, HOSTLER_STATE_GONE));
  EXPECT_EQ(processes_of(folder(instance)), std::vector<std::string>{});
}

TEST_P(KillsTest, StartsSshdAgainAndKeepsItsSessions) {
  const Seen instance = boot("key-1");
  // The listener is the child of the machine's process.
  const std::string killed =
      ssh(instance,
          "p=$PPID; while read -r _ n _ < /proc/$p/stat && [ \"${n#'(sshd'}\" != \"$n\" ]; do l=$p;"
          " read -r s < /proc/$p/stat; s=${s##*) }; set -- $s; p=$2; done;"
          " kill -9 $l && echo still here")
          .output;
  EXPECT_EQ(killed, "still here\n");

  EXPECT_TRUE(reach(instance));
  EXPECT_EQ(set->look(instance.id).state, HOSTLER_STATE_RUNNING);
}

TEST_P(KillsTest, StartsAFailedInstanceAgain) {
  const Seen instance = boot("key-1");
  ASSERT_EQ(::kill(state_of(instance).machine.pid, SIGKILL), 0);
  ASSERT_TRUE(becomes(instance.id, HOSTLER_STATE_FAILED));

  EXPECT_EQ(set->start(instance.id).status, HOSTLER_OK);

  EXPECT_TRUE(reach(instance));
  EXPECT_EQ(state_of(instance).generation, 2);
}

TEST_P(KillsTest, MakesOneInstanceOrNoneWhereverTheDaemonIsKilledInACreate) {
  for (int point = 0; point < 40; ++point) {
    const std::string key = "key-" + std::to_string(point);
    const Create create = wish(key);
    set.reset();
    const pid_t daemon = ::fork();
    if (daemon == 0) {
      DriverHost host("set-a", config(confinement()));
      host.create(create);
      ::pause();
    }
    ::usleep(static_cast<useconds_t>(point) * 700);  // where it is killed is the test's subject
    ::kill(daemon, SIGKILL);
    ::waitpid(daemon, nullptr, 0);
    open(confinement());

    const Outcome again = set->create(create);
    ASSERT_EQ(again.status, HOSTLER_OK) << again.message;
    const Outcome listed = set->list();
    ASSERT_EQ(listed.instances.size(), 1U);
    EXPECT_EQ(listed.instances.front().key, key);
    // A program that was being started holds the lock of a draft a moment longer; a list removes
    // it.
    EXPECT_TRUE(eventually([&] {
      set->list();
      return names_in(scratch.root() + "/new").empty();
    }));
    EXPECT_TRUE(becomes(listed.instances.front().id, HOSTLER_STATE_RUNNING));
    set->destroy(listed.instances.front().id);
    ASSERT_TRUE(becomes(listed.instances.front().id, HOSTLER_STATE_GONE));
  }
}

TEST_P(KillsTest, FinishesACreateThatWasCutShortWithTheNextList) {
  const Seen instance = boot("key-1");
  // As if the daemon had died between the publishing of the folder and the start of its supervisor.
  ::kill(state_of(instance).keeper.pid, SIGKILL);
  ASSERT_TRUE(becomes(instance.id, HOSTLER_STATE_FAILED));
  ASSERT_TRUE(is_empty(instance));
  ::unlink((folder(instance) + "/state").c_str());

  EXPECT_EQ(set->look(instance.id).state, HOSTLER_STATE_PENDING);

  EXPECT_TRUE(reach(instance));
}

TEST_P(KillsTest, FinishesARemovalThatWasCutShortWithTheNextList) {
  const Seen instance = boot("key-1");
  ::kill(state_of(instance).machine.pid, SIGKILL);
  ASSERT_TRUE(becomes(instance.id, HOSTLER_STATE_FAILED));
  ASSERT_TRUE(is_empty(instance));
  // As if the keeper had died in the middle of it.
  ::unlink((folder(instance) + "/record").c_str());

  EXPECT_EQ(set->look(instance.id).state, HOSTLER_STATE_GONE);
  EXPECT_TRUE(set->list().instances.empty());
  EXPECT_FALSE(is_there(folder(instance)));
}

INSTANTIATE_TEST_SUITE_P(Confinements, KillsTest, ::testing::Values("namespaces", "subreapers"),
                         [](const auto& each) { return std::string(each.param); });

}  // namespace
}  // namespace hostler::local::test
