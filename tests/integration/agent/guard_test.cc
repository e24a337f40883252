#include <fcntl.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/wait.h>

#include <set>

#include "tests/integration/agent/guard_fixture.h"

/// Attempts and the device files of cards, with each guard that this machine has.
namespace hostler::agent::test {
namespace {

/// cgroup v2, mounted here as long as the object lives.
class ScratchMount {
 public:
  explicit ScratchMount(std::string path) : path_(std::move(path)) {
    std::filesystem::create_directory(path_);
    EXPECT_EQ(::mount("none", path_.c_str(), "cgroup2", 0, nullptr), 0);
  }
  ~ScratchMount() { ::umount(path_.c_str()); }
  ScratchMount(const ScratchMount&) = delete;
  ScratchMount& operator=(const ScratchMount&) = delete;
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// Whether a process in this cgroup can open the file.
bool opens_in(const std::string& cgroup, const std::string& file) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    const UniqueFd enter(::open((cgroup + "/cgroup.procs").c_str(), O_WRONLY | O_CLOEXEC));
    if (::write(enter.get(), "0", 1) != 1) ::_exit(2);
    const UniqueFd opened(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
    ::_exit(opened ? 0 : 1);
  }
  int status = 0;
  ::waitpid(pid, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) < 2) << status;
  return status == 0;
}

class EachGuardTest : public GuardTest, public ::testing::WithParamInterface<CardGuard> {
 protected:
  void SetUp() override { use(GetParam()); }
};

TEST_P(EachGuardTest, AnAttemptOpensItsOwnCardsAlone) {
  auto link = link_with_cards(3);
  const Start first = look({0});
  const Start second = look({2, 1});
  const Start without = look({});
  start(*link, first, 1);
  start(*link, second, 2);
  start(*link, without, 3);
  let_go();

  EXPECT_EQ(seen(*link, first), "0\n3\n");
  EXPECT_EQ(seen(*link, second), "1\n2\n3\n");
  EXPECT_EQ(seen(*link, without), "3\n") << "which is no card";
}

TEST_P(EachGuardTest, TheNextAttemptOfASlotHasItsOwnCards) {
  auto link = link_with_cards(2);
  let_go();
  for (const std::size_t own : {0U, 1U, 0U}) {
    const Start next = look({own});
    start(*link, next, 1);
    EXPECT_EQ(seen(*link, next), std::to_string(own) + "\n2\n3\n");
    ASSERT_TRUE(link->client.ack({next.attempt}));
    settle(*link);
  }
}

TEST_P(EachGuardTest, AfterKill9OfTheServerCardsAndGuardAreAsBefore) {
  auto link = link_with_cards(3);
  const Start first = look({0});
  const Start second = look({1});
  start(*link, first, 1);
  start(*link, second, 2);
  kill_server();
  EXPECT_TRUE(link->await_end());

  link = connect();
  const auto ready = link->await<Ready>();
  ASSERT_TRUE(ready);
  ASSERT_EQ(ready->attempts.size(), 2U);
  EXPECT_EQ(ready->attempts[0].cards, first.cards);
  EXPECT_EQ(ready->attempts[1].cards, second.cards);
  ASSERT_TRUE(link->client.configure(with_uids()));
  ASSERT_TRUE(link->client.guard(cards(4)));  // one card is new
  const auto refused = refusal(*link, look({1, 2}));
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->why, Refused::Why::kBusy);
  EXPECT_EQ(refused->text, "attempt j-2.1 has the card GPU-1 and still runs");
  let_go();

  EXPECT_EQ(seen(*link, first), "0\n");
  EXPECT_EQ(seen(*link, second), "1\n");
  const Start next = look({1, 2});
  ASSERT_TRUE(link->client.start(next));
  EXPECT_EQ(seen(*link, next), "1\n2\n") << "who has ended has no card";
}

// Bug: until the next good reading nothing was guarded.
TEST_P(EachGuardTest, ANewServerGuardsTheFilesOfTheLastOneBeforeItIsToldAnyAgain) {
  settle(*link_with_cards(3));
  kill_server();
  auto link = ready_link(with_uids());
  const Start without = look({});
  start(*link, without, 1);
  let_go();
  EXPECT_EQ(seen(*link, without), "3\n");
}

TEST_P(EachGuardTest, AFileOfAnotherAttemptIsRefusedUnderAnyUuid) {
  auto link = link_with_cards(3);
  const Start first = look({0});
  start(*link, first, 1);
  Start second = look({0});
  second.cards = {"GPU-renamed"};
  const auto refused = refusal(*link, second);
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->why, Refused::Why::kBusy);
  let_go();
  EXPECT_EQ(seen(*link, first), "0\n3\n");
}

TEST_P(EachGuardTest, ACardThatIsNewIsClosedToAttemptsThatRun) {
  auto link = link_with_cards(2);
  const Start first = look({0});
  start(*link, first, 1);
  // The kernel takes 64 programs on one cgroup: those before must be gone.
  for (std::size_t i = 0; i < 70; ++i) ASSERT_TRUE(link->client.guard(cards(2 + i % 2)));
  ASSERT_TRUE(link->client.guard(cards(4)));
  settle(*link);
  let_go();

  EXPECT_EQ(seen(*link, first), "0\n");
}

TEST_P(EachGuardTest, AfterTheLastCardIsGoneAllFilesAreOpen) {
  auto link = link_with_cards(2);
  let_go();
  for (const std::size_t count : {2U, 0U}) {
    if (GetParam() == CardGuard::kCgroup1 && count == 0) return;  // it denies for longer
    ASSERT_TRUE(link->client.guard(cards(count)));
    const Start next = look({});
    start(*link, next, 1);
    EXPECT_EQ(seen(*link, next), count == 0 ? "0\n1\n2\n3\n" : "2\n3\n");
    ASSERT_TRUE(link->client.ack({next.attempt}));
    settle(*link);
  }
}

TEST_P(EachGuardTest, ACardIsFreeOnceTheShimOfAnAdoptedAttemptIsGone) {
  auto link = link_with_cards(2);
  const Start first = look({0});
  start(*link, first, 1);
  kill_server();
  EXPECT_TRUE(link->await_end());
  link = link_with_cards(2);
  const pid_t shim = shim_pid_of(first);
  ASSERT_GT(shim, 0);
  ::kill(shim, SIGKILL);
  const auto lost = link->await_exit(first.attempt);
  ASSERT_TRUE(lost);
  EXPECT_EQ(lost->end.reason, EndReason::kSupervisionLost);
  let_go();

  const Start second = look({0});
  ASSERT_TRUE(link->client.start(second));
  EXPECT_EQ(seen(*link, second), "0\n2\n3\n");
}

TEST_P(EachGuardTest, NothingIsLeftWhenTheServerHasQuit) {
  auto link = link_with_cards(2);
  const Start first = look({0});
  start(*link, first, 1);
  kill_server();
  EXPECT_TRUE(link->await_end());
  link = link_with_cards(2);
  let_go();
  (void)seen(*link, first);
  ASSERT_TRUE(link->client.ack({first.attempt}));
  ASSERT_TRUE(link->client.quit());
  EXPECT_TRUE((link->flush(), link->await_end()));

  EXPECT_TRUE(cgroups_here().empty());
  for (const std::size_t i : {0U, 1U}) EXPECT_EQ(owner(i), "0 666");
  EXPECT_FALSE(std::filesystem::exists(state_ / "card_owners"));
}

INSTANTIATE_TEST_SUITE_P(Guards, EachGuardTest,
                         ::testing::Values(CardGuard::kBpf, CardGuard::kCgroup1,
                                           CardGuard::kOwners),
                         [](const auto& tested) {
                           return std::string(model::to_string(tested.param));
                         });

TEST_F(GuardTest, WithoutAGuardEveryCardIsOpen) {
  use(CardGuard::kNone);
  auto link = link_with_cards(3);
  const Start first = look({0});
  start(*link, first, 1);
  let_go();
  EXPECT_EQ(seen(*link, first), "0\n1\n2\n3\n");
}

class CgroupGuardTest : public EachGuardTest {};

TEST_P(CgroupGuardTest, EvenRootCannotMakeAFileOfAnothersCard) {
  auto link = ready_link();
  ASSERT_TRUE(link->client.guard(cards(2)));
  Start first = look({0}, "cd /; for minor in 5 7 8; do mknod " + (folder_ / "new").string() +
                              "$minor c 1 $minor 2>/dev/null && echo made $minor; done; true");
  first.drop_capabilities = false;
  start(*link, first, 1);
  let_go();
  EXPECT_EQ(seen(*link, first), "0\n2\n3\nmade 5\nmade 8\n");
}

INSTANTIATE_TEST_SUITE_P(Guards, CgroupGuardTest,
                         ::testing::Values(CardGuard::kBpf, CardGuard::kCgroup1),
                         [](const auto& tested) {
                           return std::string(model::to_string(tested.param));
                         });

// No controller can be enabled there: those of v1 may have all of them.
TEST_F(GuardTest, AMountOfV2InAnyFolderIsEnoughForADeviceProgram) {
  use(CardGuard::kBpf);
  if (IsSkipped()) return;
  const ScratchMount mount(folder_ / "cgroup2");
  SlotCgroups cgroups(
      folder_ / "none", "/proc/self/cgroup",
      folder_.put("mounts", "41 31 0:38 / " + mount.path() + " rw - cgroup2 x rw\n"));
  cgroups.open("hostler-test-" + std::to_string(::getpid()), false);
  DeviceGuard guard(cgroups);
  guard.open(CardGuard::kBpf);
  EXPECT_EQ(guard.kind(), CardGuard::kBpf);
  EXPECT_TRUE(guard.set_files(cards(2).files).empty());

  const auto place = cgroups.prepare(1, {}, true);
  ASSERT_TRUE(guard.confine({.slot = 1, .uid = 0, .files = {card(1)}}));

  EXPECT_FALSE(opens_in(place.devices, card(0)));
  EXPECT_TRUE(opens_in(place.devices, card(1)));
  EXPECT_TRUE(opens_in(place.devices, card(2)));
  cgroups.remove_idle({});
  EXPECT_FALSE(std::filesystem::exists(place.devices));
}

TEST_F(GuardTest, TheKernelTakesAProgramForAThousandDevices) {
  use(CardGuard::kBpf);
  if (IsSkipped()) return;
  std::set<DeviceNumber> denied{{1, kMinors[0]}};
  for (std::uint32_t i = 0; denied.size() < kCardFilesMax; ++i) denied.insert({1000 + i, i});
  SlotCgroups cgroups;
  cgroups.open("hostler-test-" + std::to_string(::getpid()), false);
  ASSERT_TRUE(cgroups.choose_devices(Cgroups::Version::kV2));
  const auto place = cgroups.prepare(1, {}, true);

  const auto set = set_device_program(place.devices, denied);

  EXPECT_TRUE(set) << set.error().message;
  EXPECT_FALSE(opens_in(place.devices, card(0)));
  EXPECT_TRUE(opens_in(place.devices, card(1)));
  cgroups.remove_idle({});
}

class OwnersTest : public GuardTest {
 protected:
  void SetUp() override { use(CardGuard::kOwners); }
};

// Bug: where no attempt ran the files were root's, and the holder of a lease could not open its
// cards.
TEST_F(OwnersTest, WhileAttemptsRunAFileBelongsToItsAttemptOrToRoot) {
  auto link = link_with_cards(2);
  settle(*link);
  EXPECT_EQ(owner(0), "0 666") << "nobody is kept from it: the host may be lent";
  const Start first = look({0});
  start(*link, first, 1);
  EXPECT_EQ(owner(0), "700000 600");
  EXPECT_EQ(owner(1), "0 600");
  EXPECT_EQ(owner(2), "0 666") << "it is no card";
  ASSERT_TRUE(link->client.guard(cards(1)));
  settle(*link);
  EXPECT_EQ(owner(1), "0 666") << "it is a card no longer";
  let_go();
  (void)seen(*link, first);
  ASSERT_TRUE(link->client.ack({first.attempt}));
  settle(*link);
  EXPECT_EQ(owner(0), "0 666");
}

TEST_F(OwnersTest, FilesStayWithAttemptsThatRunWhenTheServerQuits) {
  auto link = link_with_cards(2);
  const Start first = look({0});
  start(*link, first, 1);
  ASSERT_TRUE(link->client.quit());
  EXPECT_TRUE((link->flush(), link->await_end()));
  EXPECT_EQ(owner(0), "700000 600");
  EXPECT_EQ(owner(1), "0 600");
  let_go();
}

TEST_F(OwnersTest, AGuardThatCannotBeSetRefusesTheStart) {
  std::filesystem::create_directories(state_ / "card_owners");
  auto link = link_with_cards(2);
  const auto refused = refusal(*link, look({0}));
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->why, Refused::Why::kInternal);
  EXPECT_NE(refused->text.find("card_owners"), std::string::npos) << refused->text;
}

}  // namespace
}  // namespace hostler::agent::test
