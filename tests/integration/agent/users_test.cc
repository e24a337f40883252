#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <string>

#include "tests/integration/agent/agent_fixture.h"

/// The users that run jobs, and the folders in which the agent can work.
namespace hostler::agent::test {
namespace {

using model::EndReason;

class UsersTest : public AgentTest {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  }
  static Configure with_uids(std::uint32_t count) {
    Configure out;
    out.uid_first = 700'000;
    out.uid_count = count;
    return out;
  }
};

TEST_F(UsersTest, EachAttemptOfRootsAgentHasAUidOfItsOwn) {
  auto link = ready_link(with_uids(100));
  const Start first = script("id -u; id -g; id -G; umask; touch f; stat -c %u:%g . f; sleep 1000");
  const Start second = script("id -u; grep NoNewPrivs /proc/self/status");
  ASSERT_TRUE(link->client.start(first));
  ASSERT_TRUE(link->await<Chunk>());

  const Exit exit = run(*link, second);
  ASSERT_TRUE(link->client.kill(first.attempt));
  const auto first_exit = link->await_exit(first.attempt);

  EXPECT_EQ(exit.end.stdout_inline, "700001\nNoNewPrivs:\t1\n");
  ASSERT_TRUE(first_exit);
  EXPECT_EQ(link->all_output(*first_exit),
            "700000\n700000\n700000\n0022\n700000:700000\n700000:700000\n");
}

TEST_F(UsersTest, AJobReadsNeitherTheAgentsStateNorOtherJobs) {
  auto link = ready_link(with_uids(100));
  Start first = script("echo secret > mine; sleep 1000");
  ASSERT_TRUE(link->client.start(first));
  link->flush();
  ASSERT_TRUE(await_file(state_ / "work/1/mine"));

  const Exit exit = run(
      *link, script("cd ../..; cat journal.*; cat out/*; ls .; ls work; cat work/1/mine; ls blobs;"
                    "echo x > agent.sock; echo x > wake; kill -9 -1; echo survived"));

  EXPECT_TRUE(exit.end.signal == SIGKILL || exit.end.exit_code == 0);
  EXPECT_EQ(exit.end.stdout_inline.find("secret"), std::string::npos);
  EXPECT_EQ(exit.end.stdout_inline.find("journal"), std::string::npos);
  EXPECT_NE(server_pid(), 0);
  EXPECT_NE(shim_pid_of(first), 0);
}

TEST_F(UsersTest, NoJobGainsPrivilegesUnlessItsPoolAllowsIt) {
  const auto setuid_id = folder_ / "id";
  std::filesystem::copy_file("/usr/bin/id", setuid_id);
  ASSERT_EQ(::chmod(setuid_id.c_str(), 04755), 0);
  struct statvfs mount {};
  ASSERT_EQ(::statvfs(setuid_id.c_str(), &mount), 0);
  const std::string text =
      "grep -E '^(CapInh|CapPrm|CapEff|CapBnd|CapAmb|NoNewPrivs)' /proc/self/status | "
      "tr -d '\\t'; [ $(id -u) = $(" +
      setuid_id.string() + " -u) ] && echo same user || echo other user";
  const std::string nothing(16, '0');
  const std::string none = "CapInh:" + nothing + "\nCapPrm:" + nothing + "\nCapEff:" + nothing +
                           "\nCapBnd:" + nothing + "\nCapAmb:" + nothing +
                           "\nNoNewPrivs:1\nsame user\n";
  for (const std::uint32_t uids : {0U, 100U}) {
    auto link = ready_link(with_uids(uids));
    EXPECT_EQ(run(*link, script(text)).end.stdout_inline, none);
  }
  auto link = ready_link(with_uids(100));
  Start free = script(text);
  free.no_new_privs = free.drop_capabilities = false;
  const std::string allowed = run(*link, free).end.stdout_inline;
  EXPECT_NE(allowed.find("NoNewPrivs:0\n"), std::string::npos) << allowed;
  EXPECT_EQ(allowed.find("CapBnd:" + nothing), std::string::npos) << allowed;
  if ((mount.f_flag & ST_NOSUID) == 0) {
    EXPECT_TRUE(allowed.ends_with("\nother user\n")) << allowed;
  }
}

TEST_F(UsersTest, AJobDoesNotSeeTheArgumentsOfOthers) {
  auto link = ready_link(with_uids(100));
  const auto mounts = read_file("/proc/" + std::to_string(server_pid()) + "/mountinfo", 1 << 20);
  if (!mounts || mounts->find("hidepid") == std::string::npos)
    GTEST_SKIP() << "this machine does not let processes be hidden";
  const Start first =
      command({"/bin/sh", "-c", ": > on; while :; do sleep 0.1; done", "password-of-ann"});
  ASSERT_TRUE(link->client.start(first));
  link->flush();
  ASSERT_TRUE(await_file(state_ / "work/1/on"));
  const auto pids = processes_of(first);
  ASSERT_FALSE(pids.empty());

  const Exit exit = run(*link, script("cat /proc/[0-9]*/cmdline | tr '\\0' ' '; ls -d /proc/" +
                                      std::to_string(pids[0])));

  EXPECT_EQ(exit.end.stdout_inline.find("password-of-ann"), std::string::npos);
  EXPECT_NE(exit.end.stdout_inline.find("/bin/sh"), std::string::npos) << "it sees its own";
  EXPECT_NE(exit.end.exit_code, 0) << "the folder of the other's process is not there";
  const auto here = read_file("/proc/self/mountinfo", 1 << 20);
  ASSERT_TRUE(here);
  EXPECT_EQ(here->find("hidepid"), std::string::npos) << "nothing of the host has changed";
}

// Bug: processes that a job had left were killed by their uid. This also killed the job of another
// agent on the machine with the same uid (instances of the local driver without namespaces).
TEST_F(UsersTest, WhatAJobLeavesIsKilledWithoutAnotherAgentsJobOfThatUid) {
  auto link = ready_link(with_uids(100));
  command_.back() = (folder_ / "other").string();
  auto other = ready_link(with_uids(100));
  const Start bystander = script("id -u; : > on; while ! [ -e go ]; do sleep 0.01; done");
  ASSERT_TRUE(other->client.start(bystander));
  other->flush();
  ASSERT_TRUE(await_file(folder_ / "other/work/1/on"));

  const Start leaving = script("id -u; setsid sleep 1000 &");
  const Exit exit = run(*link, leaving);
  ASSERT_TRUE(std::filesystem::create_directory(folder_ / "other/work/1/go"));
  const auto bystanders = other->await_exit(bystander.attempt);

  EXPECT_EQ(exit.end.stdout_inline, "700000\n");
  ASSERT_TRUE(bystanders);
  EXPECT_EQ(bystanders->end.reason, EndReason::kExit);
  EXPECT_EQ(other->all_output(*bystanders), "700000\n");
}

TEST_F(UsersTest, AForkStormOfAUserIsSwept) {
  auto link = ready_link(with_uids(100));
  // Each process ends at once and leaves another one; each has a session of its own.
  const Start start = script(
      "for i in 1 2 3 4 5; do\n"
      "setsid sh -c 'f() { setsid sh -c \"$S\" & }; export S=\"$1\"; "
      "eval \"$S\"' x 'sleep 0.001; setsid sh -c \"$S\" &' &\n"
      "done; sleep 0.2");
  const Exit exit = run(*link, start);

  EXPECT_EQ(exit.end.reason, EndReason::kExit);
  EXPECT_TRUE(processes_of(start).empty());
}

TEST_F(UsersTest, InputsBelongToTheJobAndHardLinksToOthersAreNotCollected) {
  auto link = ready_link(with_uids(100));
  const std::string sha = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824";
  ASSERT_TRUE(link->client.blob_put({sha, 5, 0, "hello"}));
  ASSERT_TRUE(link->await<BlobState>()->present);
  const auto foreign = folder_ / "foreign";
  { const UniqueFd made(::open(foreign.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0666)); }
  ASSERT_EQ(::chmod(foreign.c_str(), 0666), 0);
  ASSERT_EQ(::chmod(folder_.path().c_str(), 0777), 0);
  Start start = script("echo more >> a/in && ln " + foreign.string() + " link && cat a/in");
  start.inputs = {{"a/in", sha, false}};
  start.outputs = {"link", "a"};

  const Exit exit = run(*link, start);
  const auto files = link->await<Files>();

  EXPECT_EQ(exit.end.stdout_inline, "hellomore\n") << exit.end.stderr_inline;
  ASSERT_TRUE(files);
  ASSERT_EQ(files->files.size(), 2u);
  EXPECT_EQ(files->files[0].problem, "");
  EXPECT_EQ(files->files[1].problem, "it belongs to another user");
}

TEST_F(UsersTest, RunsUnprivilegedAsTheSameUser) {
  drop_privileges();
  auto link = ready_link(with_uids(100));

  const Start start = script("id -u; (trap '' TERM; setsid sleep 1000) & echo x > f; cat f");
  const Exit exit = run(*link, start);

  EXPECT_EQ(exit.end.stdout_inline, "710001\nx\n");
  EXPECT_TRUE(processes_of(start).empty());
  ASSERT_TRUE(link->client.ack({exit.attempt}));
  ASSERT_TRUE(link->client.ping(1));
  ASSERT_TRUE(link->await<Pong>());
  EXPECT_TRUE(std::filesystem::is_empty(state_ / "work"));
}

// Bug: a folder without write permission could not be moved to the trash. Its slot was used again,
// and every later job of the host failed to start.
TEST_F(UsersTest, AnUnwritableWorkingFolderLeavesTheSlotToTheNextJob) {
  drop_privileges();
  auto link = ready_link();

  const Exit first = run(*link, script("mkdir d; echo x > d/f; chmod 000 d; chmod a-w ."));
  ASSERT_TRUE(link->client.ack({first.attempt}));
  const Exit second = run(*link, script("pwd; ls"));

  EXPECT_EQ(second.end.reason, EndReason::kExit) << second.end.text;
  EXPECT_EQ(second.end.stdout_inline, (state_ / "work/1").string() + "\n");
  EXPECT_TRUE(await_empty(state_ / "trash"));
}

TEST_F(UsersTest, AnUnprivilegedJobThatKillsEverythingIsSupervisionLost) {
  drop_privileges();
  auto link = ready_link();
  const Start start = script("kill -9 -1; sleep 1000");
  ASSERT_TRUE(link->client.start(start));
  link->flush();
  EXPECT_TRUE(link->await_end());

  link = connect();
  ASSERT_TRUE(link->await<Ready>());
  const auto exit = link->await_exit(start.attempt);

  ASSERT_TRUE(exit);
  EXPECT_EQ(exit->end.reason, EndReason::kSupervisionLost);
}

TEST_F(UsersTest, LivesInAnEmptyRoot) {
  const auto root = folder_ / "root";
  std::filesystem::create_directory(root);
  std::filesystem::copy_file(command_[0], root / "agent");
  state_ = root / "state";
  command_ = {"/usr/sbin/chroot", root.string(), "/agent", "connect", "--dir", "/state"};
  auto link = ready_link(with_uids(100));

  const Exit exit = run(*link, command({"/agent", "--help"}));

  EXPECT_EQ(exit.end.reason, EndReason::kExit);
  EXPECT_EQ(exit.end.exit_code, 2);
  EXPECT_EQ(exit.end.stderr_inline.substr(0, 20), "usage: hostler-agent");
  EXPECT_EQ(run(*link, command({"true"})).end.text, "exec true: No such file or directory");
}

TEST_F(UsersTest, ACgroupBoundsMemoryAndProcessesWhereThereAreCgroups) {
  auto link = connect();
  const auto ready = link->await<Ready>();
  ASSERT_TRUE(ready);
  if (ready->hello.limits == Limits::kNone) GTEST_SKIP() << "this machine has no cgroups for us";
  Start greedy = script("x=$(head -c 200000000 /dev/zero | tr '\\0' x); echo survived");
  greedy.ram_max = 50'000'000;
  Start many = script("for i in 1 2 3 4 5 6 7 8 9 10; do sleep 1000 & done; echo survived");
  many.processes_max = 5;

  const Exit starved = run(*link, greedy);
  const Exit alone = run(*link, many);
  const Exit free = run(*link, command({"/bin/true"}));

  EXPECT_TRUE(starved.end.limits_enforced);
  EXPECT_EQ(starved.end.stdout_inline.find("survived"), std::string::npos);
  EXPECT_EQ(
      starved.end.text,
      "a process of the job was killed because the job reached its memory limit of 50000000 bytes");
  EXPECT_GT(starved.end.ram_peak, 0);
  EXPECT_LE(starved.end.ram_peak, 60'000'000);
  EXPECT_EQ(alone.end.stdout_inline.find("survived"), std::string::npos);
  EXPECT_FALSE(free.end.limits_enforced);
  EXPECT_FALSE(cgroups_here().empty());
  ASSERT_TRUE(link->client.ack({starved.attempt, alone.attempt, free.attempt}));
  ASSERT_TRUE(link->client.quit());
  EXPECT_TRUE((link->flush(), link->await_end()));
  EXPECT_TRUE(cgroups_here().empty());
}

// Bug: files that a job left in /dev/shm counted for the next job of its slot, which was killed.
TEST_F(UsersTest, MemoryThatAJobLeftDoesNotCountAgainstTheNextOfItsSlot) {
  auto link = connect();
  const auto ready = link->await<Ready>();
  ASSERT_TRUE(ready);
  if (ready->hello.limits == Limits::kNone) GTEST_SKIP() << "this machine has no cgroups for us";
  const std::string left = "/dev/shm/" + folder_.path().filename().string();
  Start first = script("head -c 40000000 /dev/zero > " + left);
  Start second = script("head -c 40000000 /dev/zero | tail -c 40000000 | wc -c");
  first.ram_max = second.ram_max = 60'000'000;

  const Exit leaving = run(*link, first);
  ASSERT_TRUE(link->client.ack({leaving.attempt}));
  const Exit next = run(*link, second);
  EXPECT_EQ(::unlink(left.c_str()), 0);

  EXPECT_EQ(leaving.end.exit_code, 0) << leaving.end.stderr_inline;
  EXPECT_EQ(next.end.stdout_inline, "40000000\n");
  EXPECT_EQ(next.end.text, "");
  EXPECT_TRUE(next.end.limits_enforced);
}

TEST_F(UsersTest, RefusesAStateFolderOfSomebodyElse) {
  ASSERT_TRUE(std::filesystem::create_directory(state_));
  ASSERT_EQ(::chown(state_.c_str(), 65534, 65534), 0);

  auto link = connect();

  EXPECT_TRUE(link->await_end());
}

}  // namespace
}  // namespace hostler::agent::test
