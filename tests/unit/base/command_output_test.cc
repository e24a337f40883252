#include "core/base/command_output.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <thread>

#include "core/base/join.h"
#include "core/base/reaper.h"
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

/// Of a shell that reads the FIFO "$M" in `script`, and is stopped once it does.
std::string error_of_stopped(const std::string& script) {
  const test::TempFolder folder;
  auto pipe = make_pipe().value();
  const std::string mark = (folder.path() / "mark").string();
  EXPECT_EQ(::mkfifo(mark.c_str(), 0600), 0);
  std::thread stopper([&] {
    std::ofstream(mark) << "x";
    pipe.write.reset();
  });
  const std::vector<std::string> argv{"/bin/sh", "-c", "M=" + mark + "; " + script};
  const auto result = command_output(argv, {600s, 100, pipe.read.get()});
  stopper.join();
  EXPECT_EQ(unreaped(join(argv, std::string_view("\0", 1))), 0U) << "it goes on";
  return error_of(result);
}

TEST(CommandOutputTest, EndsWithEverythingThatItStartedWhenItIsStopped) {
  EXPECT_EQ(error_of_stopped("cat $M >/dev/null; sleep 1000; :"), "/bin/sh was stopped");
}

// Bug: a program in another process group than its own survived, and its end was waited for.
TEST(CommandOutputTest, EndsAProgramThatHasLeftItsProcessGroup) {
  if (!output_of("command -v perl")) GTEST_SKIP() << "perl is not installed";
  EXPECT_EQ(error_of_stopped("exec perl -e 'setpgrp(0, getpgrp(getppid())) or die; "
                             "open(my $mark, q(<), shift); <$mark>; sleep 1000 while 1' $M"),
            "/bin/sh was stopped");
}

/// A child that lives until this process closes the pipe.
pid_t make_child(Pipe& pipe) {
  const pid_t child = ::fork();
  if (child != 0) return child;
  pipe.write.reset();
  pollfd closed{pipe.read.get(), POLLIN, 0};
  (void)::poll(&closed, 1, -1);
  ::_exit(0);
}

// Bug: a program that nothing ends, as one on a file system that hangs, was waited for without end.
TEST(CommandOutputTest, StartsNoProgramAgainWhoseRunsDoNotEnd) {
  auto pipe = make_pipe().value();
  const std::vector<std::string> argv{"/bin/echo", "well"};
  const std::string key("/bin/echo\0well", 14);
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(command_output(argv, {60s, 100, -1}).value(), "well\n");
    reap_later(make_child(pipe), key);
  }

  EXPECT_EQ(error_of(command_output(argv, {60s, 100, -1})),
            "/bin/echo is not started: 4 runs of it were killed and have not ended; see what they "
            "wait for");
  EXPECT_EQ(command_output({"/bin/echo", "other"}, {60s, 100, -1}).value(), "other\n");

  pipe.write.reset();
  while (unreaped(key) > 0) std::this_thread::yield();
  EXPECT_EQ(command_output(argv, {60s, 100, -1}).value(), "well\n");
}

}  // namespace
}  // namespace hostler
