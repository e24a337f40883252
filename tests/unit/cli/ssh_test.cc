#include <gmock/gmock.h>
#include <signal.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <thread>

#include "core/base/files.h"
#include "core/cli/commands.h"
#include "core/crypto/ssh_keys.h"
#include "tests/unit/api/fake_service.h"

/// Logins with an `ssh` that writes down what it was asked, on leases of a fake daemon.
namespace hostler::cli {
namespace {

using model::WorkState;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class SshTest : public api::ApiTest {
 protected:
  void SetUp() override {
    ApiTest::SetUp();
    client = std::make_unique<Client>(*Endpoint::find("unix://" + socket, ""));
    path_ = std::getenv("PATH");
    std::filesystem::create_directory(folder / "bin");
    ::setenv("PATH", ((folder / "bin").string() + ":" + path_).c_str(), 1);
    ssh_exits(0);
    granted();
  }
  void TearDown() override {
    ::setenv("PATH", path_.c_str(), 1);
    ApiTest::TearDown();
  }
  void ssh_exits(int status) const {
    const std::string at = folder.path().string();
    const std::string script = "#!/bin/sh\nprintf '%s\\n' \"$@\" > " + at +
                               "/words\nfor word; do case $word in UserKnownHostsFile=*) cat "
                               "\"${word#*=}\" > " +
                               at + "/keys ;; esac; done\nexit " + std::to_string(status) + "\n";
    ASSERT_TRUE(write_file(folder / "bin/ssh", script, 0700));
  }
  /// It sends this signal to whoever has started it, and waits for its end.
  void ssh_sends(int number) const {
    const std::string script =
        "#!/bin/sh\nkill -" + std::to_string(number) + " $PPID\nexec sleep 600\n";
    ASSERT_TRUE(write_file(folder / "bin/ssh", script, 0700));
  }
  void granted() {
    model::WorkRecord& record = service.lease_rows.work.record;
    record.state = WorkState::kRunning;
    record.instance = {7};
    service.lease_rows.terms.login = model::Login::kUser;
    model::InstanceRecord& host = service.host.emplace().record;
    host.address = "10.0.0.7";
    host.ssh_port = 2222;
    host.identity.public_key = key;
  }
  int run(const std::function<int()>& command) {
    testing::internal::CaptureStderr();
    testing::internal::CaptureStdout();
    const int status = command();
    errors = testing::internal::GetCapturedStderr();
    (void)testing::internal::GetCapturedStdout();
    return status;
  }
  /// The words of the last `ssh`, one on a line.
  [[nodiscard]] std::string words() const {
    return read_file(folder / "words", 10'000).value_or("");
  }

  const std::string key = crypto::parse_public_key(crypto::make_ed25519_key("").public_key)->line();
  std::unique_ptr<Client> client;
  std::string errors;

 private:
  std::string path_;
};

TEST_F(SshTest, OneLogsInAsTheAccountWithTheKeysThatTheDaemonTells) {
  EXPECT_EQ(run([&] { return ssh(*client, "l-3", {"ls", "-l"}); }), 0);
  EXPECT_THAT(words(), HasSubstr("-p\n2222\n-l\nhostler-l3\n10.0.0.7\nls\n-l\n"));
  EXPECT_EQ(read_file(folder / "keys", 10'000).value(), "[10.0.0.7]:2222 " + key + "\n");
  EXPECT_THAT(service.calls(), Not(Contains(StartsWith("return"))));
}

TEST_F(SshTest, TheLeaseIsGivenBackWhenTheShellEndsHoweverThatEnds) {
  for (const int status : {0, 7, 255}) {
    ssh_exits(status);
    EXPECT_EQ(run([&] { return ssh_and_return(*client, "l-3", {"/k"}); }), status);
    EXPECT_THAT(words(), HasSubstr("-i\n/k\n"));
    EXPECT_THAT(service.calls().back(), StartsWith("return l-3 used by "));
  }
}

TEST_F(SshTest, ALeaseIsGivenBackAlsoIfNobodyCanLogIn) {
  service.lease_rows.terms.login = model::Login::kNone;
  EXPECT_NE(run([&] { return ssh_and_return(*client, "l-3", {}); }), 0);
  EXPECT_THAT(errors, HasSubstr("has no login"));
  EXPECT_THAT(service.calls().back(), StartsWith("return l-3 used by "));
}

// A terminal that is closed tells its processes of it, and its shell tells them again.
TEST_F(SshTest, TheLeaseIsGivenBackAlsoIfTheTerminalIsClosedMeanwhile) {
  service.during_return = [] { std::raise(SIGHUP); };
  EXPECT_EQ(run([&] { return ssh_and_return(*client, "l-3", {"/k"}); }), 0);
  EXPECT_THAT(service.calls().back(), StartsWith("return l-3 used by "));
}

// Bug: the command was ended by it, and ssh and the lease went on.
TEST_F(SshTest, ASignalEndsTheShellAndTheLeaseIsGivenBack) {
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    const auto before = ::signal(number, SIG_DFL);  // It may be ignored.
    ssh_sends(number);
    EXPECT_EQ(run([&] { return ssh_and_return(*client, "l-3", {}); }), 128 + number);
    ::signal(number, before);
    EXPECT_THAT(service.calls().back(), StartsWith("return l-3 used by "));
  }
}

TEST_F(SshTest, ASignalWhileALeaseWaitsCancelsIt) {
  service.lease_rows.work.record.state = WorkState::kQueued;
  std::thread other([this] {
    while (service.calls().empty()) std::this_thread::yield();
    ::kill(::getpid(), SIGTERM);
  });
  EXPECT_EQ(run([&] { return ssh_and_return(*client, "l-3", {}); }), 128 + SIGTERM);
  other.join();
  EXPECT_THAT(service.calls().back(), StartsWith("cancel l-3 by "));
  EXPECT_EQ(words(), "");
}

TEST_F(SshTest, WhoeverCannotGiveTheLeaseBackIsToldHowTo) {
  service.return_error = Error{Errc::kForbidden, "the token was revoked"};
  EXPECT_EQ(run([&] { return ssh_and_return(*client, "l-3", {}); }), exit_code::kRefused);
  EXPECT_THAT(errors, HasSubstr("the token was revoked"));
  EXPECT_THAT(errors, HasSubstr("l-3 goes on; to end it: 'hostler return l-3'"));
}

TEST_F(SshTest, OnlyTheHostOfAGrantedLeaseCanBeLoggedInTo) {
  service.lease_rows.work.record.state = WorkState::kQueued;
  EXPECT_EQ(run([&] { return ssh(*client, "l-3", {}); }), exit_code::kRefused);
  EXPECT_THAT(errors, HasSubstr("l-3 is waiting: log in when it is granted (hostler why l-3)"));
  service.lease_rows.work.record.state = WorkState::kSucceeded;
  EXPECT_EQ(run([&] { return ssh(*client, "l-3", {}); }), exit_code::kRefused);
  EXPECT_THAT(errors, HasSubstr("l-3 has ended: ask for another host"));
  EXPECT_EQ(words(), "");
}

}  // namespace
}  // namespace hostler::cli
