#include "core/daemon/credential_watch.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <future>
#include <thread>

#include "core/base/files.h"

namespace hostler::daemon {
namespace {

using namespace std::chrono_literals;

CredentialWatches::Watched command(const std::string& script, Duration interval = 1h) {
  return {.source = {.file = "",
                     .environment = "",
                     .command = {"/bin/sh", "-c", script},
                     .interval = interval,
                     .timeout = 1h},
          .known = ""};
}

model::CloudError auth(std::uint32_t scope) {
  model::CloudError out;
  out.cls = model::CloudErrorClass::kAuth;
  out.scope = scope;
  return out;
}

TEST(CredentialWatchesTest, ARightThatIsMissingIsNoFaultOfTheCredentials) {
  EXPECT_TRUE(refuses_credentials(auth(0)));
  EXPECT_TRUE(refuses_credentials(auth(model::scope::kAccount)));
  EXPECT_FALSE(refuses_credentials(auth(model::scope::kOperation)));
  EXPECT_FALSE(refuses_credentials({}));
}

TEST(CredentialWatchesTest, ARefusalWhileTheSourcesAreReplacedLeadsToARead) {
  const std::string folder = testing::TempDir() + "credential_watch_" + std::to_string(getpid());
  ASSERT_EQ(mkdir(folder.c_str(), 0700), 0);
  const std::string fifo = folder + "/fifo";
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  std::promise<void> z_tells, b_tells, go_on, asked;
  std::atomic<int> of_b = 0;
  CredentialWatches watches([&](const std::string& set, const Result<std::string>&) {
    if (set == "z") {
      z_tells.set_value();
      go_on.get_future().wait();
    } else if (set == "b") {
      const int times = ++of_b;
      if (times == 1) b_tells.set_value();
      if (times == 2) asked.set_value();
    }
  });
  // One that says the same is told of only if it was asked for.
  const auto stays = command("echo '{}'", 1ms);
  watches.watch(
      {{"a", command("exec /bin/sleep 1000 >" + fifo)}, {"b", stays}, {"z", command("echo '{}'")}});
  z_tells.get_future().wait();
  b_tells.get_future().wait();
  const UniqueFd hangs(open(fifo.c_str(), O_RDONLY | O_CLOEXEC));  // Waits for the command of "a".
  std::thread replaces([&] { watches.watch({{"b", stays}}); });
  char byte = 0;
  EXPECT_EQ(read(hangs.get(), &byte, 1), 0) << "it was ended: they are being replaced";
  watches.failed("b", auth(0));
  EXPECT_EQ(asked.get_future().wait_for(1min), std::future_status::ready);
  go_on.set_value();
  replaces.join();
  watches.stop();
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace hostler::daemon
