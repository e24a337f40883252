#include <gtest/gtest.h>

#include <filesystem>

#include "core/base/files.h"
#include "core/crypto/random.h"
#include "core/ssh/init_script.h"
#include "core/ssh/init_state.h"
#include "tests/integration/ssh/sshd.h"
#include "tests/temp_folder.h"

namespace hostler::ssh {
namespace {

using test::shell;
using Phase = InitState::Phase;

/// The real script on a host without sshd, with each shell that a host may have.
class InitCommandTest : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (shell("command -v " + std::string(GetParam()) + " | cut -d' ' -f1").empty())
      GTEST_SKIP() << GetParam() << " is not installed";
  }
  [[nodiscard]] std::string path(const std::string& name) const {
    return (folder_.path() / name).string();
  }
  /// Runs the init script and returns what it printed, and its exit status.
  std::string init(const std::string& command) {
    EXPECT_TRUE(
        write_file(path("init"), make_init_script({secret_, "", "", command, "h-7"}), 0600));
    // Not through a pipe: processes that are left behind would hold it open.
    // The output may come after the status: it is appended, so neither overwrites the other.
    shell(": > " + path("console") + "; " + environment() + GetParam() + " " + path("init") +
          " >> " + path("console") + " 2>&1; echo \"status $?\" >> " + path("console"));
    return shell("cat " + path("console"));
  }
  Result<InitState> state(const std::string& more_environment = "",
                          const std::string& instance = "h-7") {
    const ExecRequest request = init_state_request("0123", instance);
    EXPECT_TRUE(write_file(path("script"), request.input, 0600));
    ExecResult out;
    out.output = shell(environment() + more_environment + GetParam() + request.command.substr(2) +
                       " < " + path("script") + " 2>&1") +
                 "\n";
    return parse_init_state("0123", out);
  }
  [[nodiscard]] std::string environment() const {
    return "HOSTLER_AGENT_DIR=" + path("agent") + " ";
  }

  test::TempFolder folder_;
  std::string secret_ = crypto::random_hex(32);
};

TEST_P(InitCommandTest, ItsStatusAndLastOutputAreKept) {
  EXPECT_EQ(init("echo fetching; echo 'no route to host' >&2; exit 3"),
            "fetching\nno route to host\nstatus 1");
  const auto failed = state();
  ASSERT_TRUE(failed) << failed.error().message;
  EXPECT_EQ(failed->phase, Phase::kEnded);
  EXPECT_TRUE(failed->failed());
  EXPECT_EQ(failed->ending(), "status 3");
  EXPECT_EQ(failed->output_end(), "fetching no route to host");

  const std::string said = init("echo fine");  // it does not wait for the output
  EXPECT_TRUE(said.find("status 0") != std::string::npos) << said;
  // hostler_keep makes this file when it has copied all.
  shell("while [ ! -e " + path("agent/init.kept") + " ]; do sleep 0.1; done");
  EXPECT_TRUE(shell("cat " + path("console")).find("fine") != std::string::npos);
  EXPECT_FALSE(state()->failed());
  EXPECT_EQ(state()->phase, Phase::kEnded);
  EXPECT_FALSE(std::filesystem::exists(path("agent/init.command"))) << "it may have secrets";
}

TEST_P(InitCommandTest, ACommandEndsItsOwnShellOnly) {
  init("exec sh -c 'echo x; exit 7'");
  EXPECT_EQ(state()->end, "7");
  init("kill -9 $$");
  EXPECT_EQ(state()->end, "137");
  init("read line; echo \"read '$line'\"; cat");
  EXPECT_EQ(state()->end, "0") << "its input is empty";
  EXPECT_EQ(state()->output_end(), "read ''");
  init("echo '(");
  EXPECT_TRUE(state()->failed()) << "what sh cannot parse is a failure of the command alone";
  init("cat <<HOSTLER_END\nHOSTLER_END_\nHOSTLER_END\nexit 4");
  EXPECT_EQ(state()->end, "4");
}

TEST_P(InitCommandTest, NothingWaitsForAProcessThatTheCommandLeavesBehind) {
  init("mkfifo " + path("fifo") + "; (read x < " + path("fifo") + ") & echo $! > " + path("pid") +
       "; exit 5");
  EXPECT_EQ(state()->end, "5");
  shell("kill $(cat " + path("pid") + ")");
}

TEST_P(InitCommandTest, OutputOfAnySizeAndKindIsBounded) {
  init("head -c 20000000 /dev/zero; printf 'the \\033[31mend\\377'; exit 2");
  const auto ended = state();
  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->end, "2");
  EXPECT_EQ(ended->output.size(), 4096U);
  EXPECT_TRUE(ended->output_end().ends_with("the \\u001b[31mend?")) << ended->output_end();
  EXPECT_LT(ended->output_end().size(), 450U);
  EXPECT_LT(std::stol(shell("du -sk " + path("agent") + " | cut -f1")), 10'000);
}

TEST_P(InitCommandTest, WhileItRunsItsLastOutputIsShown) {
  EXPECT_EQ(state()->phase, Phase::kNotRun);
  // The command itself asks.
  const ExecRequest request = init_state_request("0123");
  ASSERT_TRUE(write_file(path("script"), request.input, 0600));
  init("echo installing; while [ ! -s " + path("agent/init.output") + " ]; do sleep 0.1; done; " +
       GetParam() + request.command.substr(2) + " < " + path("script") + " > " + path("said"));
  ExecResult said;
  said.output = *read_file(path("said"), 100000);
  const auto running = parse_init_state("0123", said);
  ASSERT_TRUE(running) << running.error().message;
  EXPECT_EQ(running->phase, Phase::kRunning);
  EXPECT_EQ(running->describe(), "the init command has not ended yet, it printed 'installing'");
}

TEST_P(InitCommandTest, AScriptThatWasKilledOrCutByARestartHasFailed) {
  init("kill -9 $PPID; sleep 0.1");
  const auto killed = state();
  ASSERT_TRUE(killed) << killed.error().message;
  // The shell of the command is a child of the script's, or of one between.
  EXPECT_EQ(killed->end, "killed");
  EXPECT_TRUE(killed->failed());

  ASSERT_TRUE(write_file(path("agent/init.status"), "running 1 1 another-boot\n", 0600));
  EXPECT_EQ(state()->end, "restarted");
  ASSERT_TRUE(write_file(path("agent/init.status"), "running 1 1 this-boot\n", 0600));
  EXPECT_EQ(state("HOSTLER_BOOT_ID=this-boot ")->end, "killed");
}

// Bug: it counted as killed, and the host was destroyed.
TEST_P(InitCommandTest, ACommandThatThisUserMayNotSeeRuns) {
  // In a namespace of its own, where the shell of the command is process 1.
  const std::string hidden =
      "unshare -m -p --fork sh -c 'mount -t proc -o hidepid=2 proc /proc && ";
  if (shell(hidden + "echo yes' 2>/dev/null") != "yes") GTEST_SKIP() << "/proc cannot be mounted";
  const ExecRequest request = init_state_request("0123");
  ASSERT_TRUE(write_file(path("script"), request.input, 0644));
  std::filesystem::permissions(folder_.path(), std::filesystem::perms(0755));
  std::filesystem::create_directory(path("agent"));
  const auto ask = [&](const std::string& as) {
    ExecResult said;
    said.output =
        shell(hidden +
              "read boot < /proc/sys/kernel/random/boot_id && read stat < /proc/1/stat && "
              "set -- ${stat##*)} && echo \"running 1 ${20} $boot\" > " +
              path("agent/init.status") + " && " + as + "env " + environment() + GetParam() +
              request.command.substr(2) + " < " + path("script") + " 2>&1'") +
        "\n";
    const auto state = parse_init_state("0123", said);
    EXPECT_TRUE(state) << state.error().message;
    return state ? state->describe() : "";
  };
  const std::string runs = "the init command has not ended yet, it printed nothing";
  EXPECT_EQ(ask(""), runs);
  EXPECT_EQ(ask("setpriv --reuid=65534 --regid=65534 --clear-groups "), runs);
}

// Bug: a host from an image that was made of a used host was ready before its init command ran, or
// was ended for the failure of the other host.
TEST_P(InitCommandTest, TheStateThatAnImageHasIsNotThisHosts) {
  init("exit 3");
  ASSERT_EQ(state()->end, "3");
  EXPECT_EQ(state("", "h-8")->phase, Phase::kNotRun);
  EXPECT_EQ(state("", "")->end, "3") << "whoever does not know the instance takes any";

  const std::string boot = shell("cat /proc/sys/kernel/random/boot_id");
  ASSERT_TRUE(write_file(path("agent/init.status"), "running 1 1 " + boot + " h-7\n", 0600));
  EXPECT_EQ(state()->end, "killed");
  EXPECT_EQ(state("", "h-8")->phase, Phase::kNotRun);
  ASSERT_TRUE(write_file(path("agent/init.status"), "ended 4\n", 0600));
  EXPECT_EQ(state()->end, "4") << "an older hostler wrote no instance";

  init("");
  EXPECT_EQ(state("", "h-8")->phase, Phase::kNone) << "the script has none and has run";
}

TEST_P(InitCommandTest, HostsWithoutACommandAndOlderHostsGoOn) {
  init("");
  EXPECT_EQ(state()->phase, Phase::kNone);
  EXPECT_FALSE(std::filesystem::exists(path("agent/init.status")));
}

/// A host whose init command comes over its first connection.
class InitDeliveryTest : public InitCommandTest {
 protected:
  void SetUp() override {
    InitCommandTest::SetUp();
    EXPECT_TRUE(
        write_file(path("init"), make_init_script({secret_, "", "", "", "h-7", true}), 0600));
    shell(environment() + GetParam() + " " + path("init"));
  }
  [[nodiscard]] std::string shell_of(const std::string& script) const {
    EXPECT_TRUE(write_file(path("delivery"), script, 0600));
    return environment() + GetParam() + " -s < " + path("delivery");
  }
  void deliver(const std::string& command, const std::string& to = "h-7") {
    shell(shell_of(make_init_delivery(command, to)));
  }
  InitState ended() {
    shell("until grep -q ended " + path("agent/init.status") + "; do sleep 0.1; done");
    return state().value();
  }
};

TEST_P(InitDeliveryTest, ItAwaitsTheCommandAndThenIsAsAnyOther) {
  EXPECT_EQ(state()->phase, Phase::kAwaited);
  EXPECT_EQ(state("", "h-8")->phase, Phase::kNotRun) << "of an image";
  deliver("echo fetching; cat; echo 'it'\"'\"'s gone' >&2; exit 3");
  const InitState failed = ended();
  EXPECT_EQ(failed.end, "3");
  EXPECT_EQ(failed.output_end(), "fetching it's gone");
  EXPECT_FALSE(std::filesystem::exists(path("agent/init.command"))) << "it may have secrets";
}

TEST_P(InitDeliveryTest, TheCommandRunsOnceHoweverOftenItIsDelivered) {
  const std::string mark = path("mark");
  const std::string script = make_init_delivery("echo ran >> " + mark, "h-7");
  shell("for n in 1 2 3 4 5; do " + shell_of(script) + " & done; wait");
  EXPECT_EQ(ended().end, "0");
  deliver("echo again >> " + mark);
  EXPECT_EQ(shell("cat " + mark), "ran");
  EXPECT_EQ(state()->end, "0");
}

TEST_P(InitDeliveryTest, TheCommandGoesOnAfterTheConnection) {
  deliver("until [ -e " + path("go") + " ]; do sleep 0.1; done; exit 4");
  EXPECT_EQ(state()->phase, Phase::kRunning);
  ASSERT_TRUE(write_file(path("go"), "", 0600));
  EXPECT_EQ(ended().end, "4");
}

TEST_P(InitDeliveryTest, AnUnfinishedScriptAndOneForAnotherHostDoNothing) {
  const std::string whole = make_init_delivery("echo ran", "h-7");
  for (std::size_t part = 1; part < 12; ++part)
    shell(shell_of(whole.substr(0, whole.size() * part / 12)) + " 2>/dev/null");
  deliver("echo ran", "h-8");
  EXPECT_EQ(state()->phase, Phase::kAwaited);
}

// The init script of an adopted host may name it by an id that this store does not know.
TEST_P(InitDeliveryTest, OneForAnyHostIsTakenUnderTheNameThatTheHostHas) {
  deliver("exit 5", "");
  EXPECT_EQ(ended().end, "5");
  EXPECT_EQ(state("", "h-7")->phase, Phase::kEnded);
  EXPECT_EQ(state("", "h-8")->phase, Phase::kNotRun);
}

INSTANTIATE_TEST_SUITE_P(Shells, InitDeliveryTest, testing::Values("dash", "bash", "busybox sh"),
                         [](const auto& shell) {
                           std::string name = shell.param;
                           std::erase(name, ' ');
                           return name;
                         });
INSTANTIATE_TEST_SUITE_P(Shells, InitCommandTest, testing::Values("dash", "bash", "busybox sh"),
                         [](const auto& shell) {
                           std::string name = shell.param;
                           std::erase(name, ' ');
                           return name;
                         });

TEST(InitStateTest, AnAnswerThatIsNoneIsAnErrorThatShowsWhatTheHostSaid) {
  for (const char* said : {"", "hostler-init 0123 ended", "hostler-init 0123 ended 256\n",
                           "hostler-init 0123 ended -1\n", "hostler-init 9999 ended 0\n",
                           "hostler-init 0123 nonsense\n", "Only for backups.\n"}) {
    ExecResult result;
    result.status = 0;
    result.output = said;
    const auto state = parse_init_state("0123", result);
    ASSERT_FALSE(state) << said;
    EXPECT_EQ(state.error().code, Errc::kUnavailable);
  }
  ExecResult noisy;
  noisy.output = "Welcome!\nhostler-init 0123 ended 1 zz\nbye\n";
  EXPECT_EQ(parse_init_state("0123", noisy)->describe(),
            "the init command ended with status 1, it printed nothing");
}

}  // namespace
}  // namespace hostler::ssh
