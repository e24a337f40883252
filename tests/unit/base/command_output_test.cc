#include "core/base/command_output.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <fstream>
#include <thread>

#include "core/base/spawn.h"
#include "tests/temp_folder.h"

namespace hostler {
namespace {

using namespace std::chrono_literals;

/// Of a shell that runs `script`.
Result<std::string> output_of(const std::string& script, CommandLimits limits = {60s, 100, -1}) {
  return command_output({"/bin/sh", "-c", script}, limits);
}

std::string error_of(const Result<std::string>& result) {
  return result ? "it went well" : result.error().message;
}

TEST(CommandOutputTest, ReturnsWhatTheProgramPrinted) {
  EXPECT_EQ(output_of("echo well; echo noise >&2").value(), "well\n");
  EXPECT_EQ(output_of("true").value(), "");
}

TEST(CommandOutputTest, DoesNotWaitForProcessesThatItLeaves) {
  EXPECT_EQ(output_of("sleep 1000 & echo well").value(), "well\n");
}

TEST(CommandOutputTest, SaysHowAProgramFailedAndNotWhatItPrinted) {
  EXPECT_EQ(error_of(output_of("echo secret; exit 3")),
            "/bin/sh ended with exit status 3; its standard error is in the log of hostlerd's "
            "service");
  EXPECT_EQ(error_of(output_of("kill -9 $$")), "/bin/sh was ended by signal 9");
  EXPECT_EQ(error_of(command_output({"/no/such"}, {60s, 100, -1})),
            "cannot start /no/such: No such file or directory");
}

TEST(CommandOutputTest, EndsAProgramThatPrintsTooMuchOrTakesTooLong) {
  EXPECT_EQ(error_of(output_of("yes")), "/bin/sh printed more than 100 bytes");
  EXPECT_EQ(error_of(output_of("sleep 1000; :", {10ms, 100, -1})),
            "/bin/sh did not end within 10 ms");
  EXPECT_EQ(error_of(output_of("exec >&-; sleep 1000; :", {10ms, 100, -1})),
            "/bin/sh did not end within 10 ms");
}

TEST(CommandOutputTest, EndsWithEverythingThatItStartedWhenItIsStopped) {
  const test::TempFolder folder;
  auto pipe = make_pipe().value();
  const std::string mark = (folder.path() / "mark").string();
  ASSERT_EQ(::mkfifo(mark.c_str(), 0600), 0);
  std::thread stopper([&] {
    std::ofstream(mark) << "x";
    pipe.write.reset();
  });

  const auto result =
      output_of("cat " + mark + " >/dev/null; sleep 1000; :", {600s, 100, pipe.read.get()});
  stopper.join();

  EXPECT_EQ(error_of(result), "/bin/sh was stopped");
}

}  // namespace
}  // namespace hostler
