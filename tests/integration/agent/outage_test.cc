#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <cerrno>
#include <cstddef>
#include <string>
#include <thread>

#include "tests/integration/agent/agent_fixture.h"

/// The agent's processes die at bad moments.
namespace hostler::agent::test {
namespace {

using model::EndReason;

/// Runs until `work/N/go` appears in its working folder.
const std::string kWaitForGo =
    "echo begun; : > on; while ! [ -e go ]; do sleep 0.01; done; echo ended";

/// What this thread starts finds a kernel before 5.3.
void deny_pidfds() {
  sock_filter code[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
                        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_pidfd_open, 0, 1),
                        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
                        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  const sock_fprog program{4, code};
  ASSERT_EQ(::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
  ASSERT_EQ(::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
}

class OutageTest : public AgentTest {
 protected:
  std::filesystem::path work(const Start& start) const {
    return folder_ / "state/work" / std::to_string(start.attempt.work.value);
  }
  void begin(Link& link, const Start& start) {
    ASSERT_TRUE(link.client.start(start));
    link.flush();
    ASSERT_TRUE(await_file(work(start) / "on"));
  }
  void let_go(const Start& start) {
    ASSERT_TRUE(std::filesystem::create_directory(work(start) / "go"));
  }
  static Phase phase_in(const Ready& ready, const Start& start) {
    for (const Known& known : ready.attempts)
      if (known.attempt == start.attempt) return known.phase;
    ADD_FAILURE() << start.attempt.text() << " is not listed";
    return Phase::kUnknownEnd;
  }
};

TEST_F(OutageTest, AJobOutlivesItsServerAndTheNextServerReportsItsEnd) {
  auto link = ready_link();
  const Start start = script(kWaitForGo);
  begin(*link, start);

  kill_server();
  EXPECT_TRUE(link->await_end());
  link = connect();
  const auto ready = link->await<Ready>();
  ASSERT_TRUE(ready);
  EXPECT_EQ(phase_in(*ready, start), Phase::kRunning);
  EXPECT_EQ(ready->hello.last_sequence, start.sequence);
  ASSERT_TRUE(link->client.resume(start.attempt, 0, 0));
  let_go(start);
  const auto exit = link->await_exit(start.attempt);

  ASSERT_TRUE(exit);
  EXPECT_EQ(exit->end.reason, EndReason::kExit);
  EXPECT_EQ(link->all_output(*exit), "begun\nended\n");
}

TEST_F(OutageTest, AnEndWhileNoServerLivesIsNotLost) {
  auto link = ready_link();
  const Start start = script(kWaitForGo + "; exit 9");
  begin(*link, start);
  const pid_t shim = shim_pid_of(start);
  ASSERT_GT(shim, 0);

  kill_server();
  let_go(start);
  ASSERT_TRUE(await_gone(shim));
  link = connect();
  const auto ready = link->await<Ready>();
  ASSERT_TRUE(ready);
  const auto exit = link->await_exit(start.attempt);

  EXPECT_EQ(phase_in(*ready, start), Phase::kEnded);
  ASSERT_TRUE(exit);
  EXPECT_EQ(exit->end.exit_code, 9);
}

TEST_F(OutageTest, ASequenceNumberStaysUsedAfterTheServerDied) {
  auto link = ready_link();
  const Start start = command({"/bin/true"});
  run(*link, start);
  ASSERT_TRUE(link->client.ack({start.attempt}));
  ASSERT_TRUE(link->client.ping(1));
  ASSERT_TRUE(link->await<Pong>());

  kill_server();
  link = ready_link();
  Start again = start;
  again.attempt.number = 2;
  ASSERT_TRUE(link->client.start(again));
  const auto refused = link->await<Refused>();

  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->why, Refused::Why::kUsedSequence);
}

TEST_F(OutageTest, AKilledShimEndsItsAttemptAsSupervisionLostAndLeavesNoProcess) {
  auto link = ready_link();
  const Start start = script("(trap '' TERM HUP; setsid sleep 1000) & " + kWaitForGo);
  const Start other = script(kWaitForGo);
  begin(*link, start);
  begin(*link, other);

  ASSERT_EQ(::kill(shim_pid_of(start), SIGKILL), 0);
  const auto exit = link->await_exit(start.attempt);

  ASSERT_TRUE(exit);
  EXPECT_EQ(exit->end.reason, EndReason::kSupervisionLost);
  EXPECT_TRUE(processes_of(start).empty());
  let_go(other);
  const auto other_exit = link->await_exit(other.attempt);
  ASSERT_TRUE(other_exit);
  EXPECT_EQ(other_exit->end.reason, EndReason::kExit);
}

TEST_F(OutageTest, AShimKilledUnderANewServerOrUnderNoneIsNoticedToo) {
  auto link = ready_link();
  const Start adopted = script("setsid sleep 1000 & " + kWaitForGo);
  const Start orphan = script("setsid sleep 1000 & " + kWaitForGo);
  begin(*link, adopted);
  begin(*link, orphan);
  kill_server();
  const pid_t shim = shim_pid_of(orphan);
  ASSERT_EQ(::kill(shim, SIGKILL), 0);
  ASSERT_TRUE(await_gone(shim));

  link = ready_link();
  const auto first = link->await_exit(orphan.attempt);
  ASSERT_EQ(::kill(shim_pid_of(adopted), SIGKILL), 0);
  const auto second = link->await_exit(adopted.attempt);

  ASSERT_TRUE(first);
  ASSERT_TRUE(second);
  EXPECT_EQ(first->end.reason, EndReason::kSupervisionLost);
  EXPECT_EQ(second->end.reason, EndReason::kSupervisionLost);
  EXPECT_TRUE(processes_of(adopted).empty());
  EXPECT_TRUE(processes_of(orphan).empty());
}

// Bug: where the kernel has no pidfd_open, the next server took every shim for dead and killed what
// it watched.
TEST_F(OutageTest, AJobOutlivesItsServerAlsoWhereThereAreNoPidfds) {
  auto link = ready_link();
  const Start ends = script(kWaitForGo);
  const Start killed = script(kWaitForGo);
  const Start lost = script(kWaitForGo);
  for (const Start& start : {ends, killed, lost}) begin(*link, start);
  kill_server();

  std::thread([&] {
    deny_pidfds();
    link = ready_link();
  }).join();
  let_go(ends);
  const auto ended = link->await_exit(ends.attempt);
  ASSERT_TRUE(link->client.kill(killed.attempt));
  const auto signalled = link->await_exit(killed.attempt);
  const pid_t shim = shim_pid_of(lost);
  ASSERT_GT(shim, 0);
  ASSERT_EQ(::kill(shim, SIGKILL), 0);
  const auto gone = link->await_exit(lost.attempt);

  ASSERT_TRUE(ended && signalled && gone);
  EXPECT_EQ(ended->end.reason, EndReason::kExit);
  EXPECT_EQ(signalled->end.reason, EndReason::kSignal);
  EXPECT_EQ(gone->end.reason, EndReason::kSupervisionLost);
  EXPECT_TRUE(processes_of(lost).empty());
}

TEST_F(OutageTest, AnAttemptOfABootThatIsOverIsListedAsOfUnknownEnd) {
  auto link = ready_link();
  const Start start = script(kWaitForGo);
  begin(*link, start);
  kill_server();
  const pid_t shim = shim_pid_of(start);
  ASSERT_EQ(::kill(shim, SIGKILL), 0);
  ASSERT_TRUE(await_gone(shim));

  boot_id_ = "boot-2";
  link = connect();
  const auto ready = link->await<Ready>();

  ASSERT_TRUE(ready);
  EXPECT_EQ(ready->hello.boot_id, "boot-2");
  EXPECT_EQ(phase_in(*ready, start), Phase::kUnknownEnd);
  ASSERT_TRUE(link->client.ack({start.attempt}));
  ASSERT_TRUE(link->client.ping(1));
  ASSERT_TRUE(link->await<Pong>());
  link = connect();
  const auto next = link->await<Ready>();
  ASSERT_TRUE(next) << link->error;
  EXPECT_TRUE(next->attempts.empty());
}

TEST_F(OutageTest, ANewConnectionReplacesTheOldOne) {
  auto old = ready_link();
  const Start start = script(kWaitForGo);
  begin(*old, start);

  auto link = ready_link();
  let_go(start);

  EXPECT_TRUE(old->await_end());
  EXPECT_TRUE(link->await_exit(start.attempt));
}

TEST_F(OutageTest, OutputResumesWhereItWasDurable) {
  auto link = ready_link();
  // 588,895 bytes; more than one window.
  const Start start = script("seq 100000; : > on; sleep 1000");
  begin(*link, start);
  const auto first = link->await<Chunk>();
  ASSERT_TRUE(first);
  std::string all = first->data;
  kill_server();

  link = connect();
  ASSERT_TRUE(link->await<Ready>());
  link->auto_durable = true;
  ASSERT_TRUE(link->client.resume(start.attempt, all.size(), 0));
  while (all.size() < 588'895) {
    const auto chunk = link->await<Chunk>();
    ASSERT_TRUE(chunk) << link->error;
    ASSERT_EQ(chunk->offset, all.size());
    all += chunk->data;
  }
  ASSERT_TRUE(link->client.kill(start.attempt, true));
  const auto exit = link->await_exit(start.attempt);

  ASSERT_TRUE(exit);
  EXPECT_EQ(exit->end.signal, SIGKILL);
  EXPECT_EQ(exit->end.stdout_bytes, 588'895u);
  EXPECT_EQ(all.substr(all.size() - 14), "\n99999\n100000\n");
}

TEST_F(OutageTest, EndsSurviveTheServersDeathInTheirMidst) {
  auto link = ready_link();
  std::map<model::AttemptId, int> exits;
  for (int i = 0; i < 400; ++i) {
    const Start start = command({"/bin/true"});
    exits[start.attempt] = 0;
    ASSERT_TRUE(link->client.start(start));
  }
  // All are logged when the last has begun; then the server dies with most of them under way.
  ASSERT_TRUE(link->await<Started>([](const Started& s) { return s.attempt.work.value == 400; }));
  kill_server();

  link = connect();
  const auto ready = link->await<Ready>();
  ASSERT_TRUE(ready);
  ASSERT_EQ(ready->attempts.size(), 400u);
  for (std::size_t i = 0; i < 400; ++i) {
    const auto exit = link->await<Exit>();
    ASSERT_TRUE(exit) << i;
    EXPECT_EQ(exit->end.reason, EndReason::kExit);
    ++exits[exit->attempt];
  }
  for (const auto& [id, count] : exits) EXPECT_EQ(count, 1) << id.text();
}

}  // namespace
}  // namespace hostler::agent::test
