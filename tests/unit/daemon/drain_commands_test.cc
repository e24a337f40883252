#include "core/daemon/drain_commands.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <future>
#include <string>

#include "tests/temp_folder.h"

namespace hostler::daemon {
namespace {

using namespace std::chrono_literals;

dispatch::DrainCall call_of(const std::string& script) {
  dispatch::DrainCall call;
  call.instance = model::InstanceId{7};
  call.command = {"/bin/sh", "-c", script};
  call.timeout = 1h;
  call.pool = "web";
  return call;
}

TEST(DrainCommandsTest, SayHowACommandEnded) {
  std::promise<dispatch::DrainEnded> end;
  DrainCommands commands([&](dispatch::DrainEnded ended) { end.set_value(std::move(ended)); });
  commands.run(call_of("echo \"$HOSTLER_POOL has it\" >&2; exit 3"));
  const auto ended = end.get_future().get();
  EXPECT_EQ(ended.instance, model::InstanceId{7});
  EXPECT_FALSE(ended.good);
  EXPECT_EQ(ended.text, "/bin/sh ended with exit status 3: web has it");
}

// Bug: the end of hostlerd waited for a command that no signal to its process group reached.
TEST(DrainCommandsTest, ACommandThatHasLeftItsProcessGroupHoldsUpNoEnd) {
  if (::access("/usr/bin/perl", X_OK) != 0) GTEST_SKIP() << "perl is not installed";
  const test::TempFolder folder;
  const std::string mark = (folder / "mark").string();
  ASSERT_EQ(::mkfifo(mark.c_str(), 0600), 0);
  int ends = 0;
  {
    DrainCommands commands([&](const dispatch::DrainEnded&) { ++ends; });
    commands.run(
        call_of("exec /usr/bin/perl -e 'setpgrp(0, getpgrp(getppid())) or die; "
                "open(my $mark, q(<), shift); <$mark>; sleep 1000 while 1' " +
                mark));
    std::ofstream(mark) << "x";  // Waits until it is there.
  }
  EXPECT_EQ(ends, 0) << "no end is reported of commands that are killed";
}

}  // namespace
}  // namespace hostler::daemon
