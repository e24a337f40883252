// Files and programs.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <string>

#include "core/base/spawn.h"
#include "core/sources/local_source.h"
#include "core/sources/read_once.h"
#include "tests/temp_folder.h"

namespace hostler::sources {
namespace {

using namespace std::chrono_literals;

constexpr Wall kReadAt{2'000'000'000'000'000};

class LocalTest : public testing::Test {
 protected:
  Result<Samples> read_file(const std::string& path, const std::string& pointer = "") {
    model::MetricSource source;
    source.kind = model::MetricSource::Kind::kFile;
    source.file = path;
    source.pointer = pointer;
    return read_file_source(source, kReadAt);
  }
  /// Sets the time of the file's last change.
  std::string put(const std::string& content, std::int64_t changed_s) {
    const std::string path = folder.put("metric", content);
    const timespec time{changed_s, 0};
    const std::array<timespec, 2> times{time, time};
    EXPECT_EQ(::utimensat(AT_FDCWD, path.c_str(), times.data(), 0), 0);
    return path;
  }
  static model::MetricSource shell(const std::string& script, Duration timeout = 60s) {
    model::MetricSource source;
    source.kind = model::MetricSource::Kind::kExec;
    source.command = {"/bin/sh", "-c", script};
    source.timeout = timeout;
    return source;
  }
  static std::string printed(const model::MetricSource& source) {
    const auto samples = read_exec_source(source, kReadAt, -1);
    return samples ? std::to_string(samples->at(0).value) : samples.error().message;
  }
  static std::string error_of(const Result<Samples>& samples) {
    return samples ? "none" : samples.error().message;
  }
  test::TempFolder folder;
};

TEST_F(LocalTest, AFileIsAsOldAsItsLastChange) {
  const auto samples = read_file(put(R"({"depth": 4})", 1'999'999'000), "/depth");
  EXPECT_EQ(samples.value(),
            (Samples{{.key = "", .value = 4, .taken = Wall{1'999'999'000'000'000}}}));
}

TEST_F(LocalTest, AFileOfTheFutureIsAFailureButForClocksThatDifferALittle) {
  EXPECT_EQ(read_file(put("4", 2'000'000'030)).value().at(0).taken, kReadAt);
  EXPECT_EQ(error_of(read_file(put("4", 2'000'000'090))),
            (folder / "metric").string() +
                " was changed in the future: set the clock of the machine that writes it");
}

// Bug: beyond the year 2318 the difference overflowed, and the file was fresh for ever.
TEST_F(LocalTest, AFileOfAFarFutureIsAFailureAndOneOfAFarPastIsOld) {
  // The last second that ext4 has, and of other file systems.
  for (const std::int64_t second : {15'032'385'535, 9'000'000'000'000'000'000})
    EXPECT_NE(error_of(read_file(put("4", second))).find("in the future"), std::string::npos);
  EXPECT_EQ(read_file(put("4", -2'147'483'648)).value().at(0).taken, Wall{-2'147'483'648'000'000});
}

TEST_F(LocalTest, AFileThatIsMissingOrHugeOrNoneIsAFailure) {
  EXPECT_NE(error_of(read_file((folder / "missing").string())), "none");
  EXPECT_NE(error_of(read_file(put(std::string(2'000'000, '1'), 1'000))), "none");
  EXPECT_NE(error_of(read_file(put("", 1'000))), "none");
  EXPECT_EQ(error_of(read_file(folder.path().string())),
            folder.path().string() + " is not a regular file");
}

TEST_F(LocalTest, AFifoIsRefusedAndNotWaitedFor) {
  const std::string fifo = (folder / "fifo").string();
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  EXPECT_EQ(error_of(read_file(fifo)), fifo + " is not a regular file");
  EXPECT_EQ(error_of(read_file("/dev/zero")), "/dev/zero is not a regular file");
}

TEST_F(LocalTest, TheNumberThatAProgramPrintsIsItsValue) {
  EXPECT_EQ(printed(shell("echo 12")), "12.000000");
  auto source = shell("echo '{\"a\": [3]}'; echo noise >&2");
  source.pointer = "/a/0";
  EXPECT_EQ(printed(source), "3.000000");
}

TEST_F(LocalTest, AProgramHasNoShellAndFewVariables) {
  ::setenv("HOSTLER_TEST_SECRET", "1", 1);
  EXPECT_EQ(printed(shell("env | grep -c HOSTLER_TEST_SECRET; :")), "0.000000");
  EXPECT_EQ(printed(shell("env | grep -c '^PATH='")), "1.000000");
  auto source = shell("");
  source.command = {"/bin/echo", "7;echo", "8"};
  EXPECT_EQ(printed(source).rfind("the output of /bin/echo: not JSON", 0), 0U);
}

TEST_F(LocalTest, AProgramThatFailsIsAFailureWithItsFirstLineOfErrors) {
  EXPECT_EQ(printed(shell("echo 5; echo 'no redis' >&2; echo more >&2; exit 3")),
            "/bin/sh ended with exit status 3: no redis");
  EXPECT_EQ(printed(shell("echo 5; exit 1")), "/bin/sh ended with exit status 1");
  EXPECT_EQ(printed(shell("kill -9 $$")), "/bin/sh was ended by signal 9");
  auto source = shell("");
  source.command = {"/no/such"};
  EXPECT_EQ(printed(source), "cannot start /no/such: No such file or directory");
}

TEST_F(LocalTest, AProgramThatPrintsWithoutEndIsEnded) {
  EXPECT_EQ(printed(shell("yes")), "/bin/sh printed more than 65536 bytes");
  EXPECT_EQ(printed(shell("yes >&2", 50ms)), "/bin/sh did not end within 50 ms");
  EXPECT_EQ(printed(shell("head -c 1000000 /dev/zero >&2; echo 6")), "6.000000");
}

TEST_F(LocalTest, AProgramThatHangsIsEndedWithAllThatItStarted) {  // F-W5
  auto pipe = make_pipe().value();
  ASSERT_EQ(::fcntl(pipe.write.get(), F_SETFD, 0), 0);  // the programs have it, too
  ASSERT_EQ(::fcntl(pipe.read.get(), F_SETFL, 0), 0);
  EXPECT_EQ(printed(shell("sleep 1000 & sleep 1000; :", 50ms)), "/bin/sh did not end within 50 ms");
  pipe.write.reset();
  char byte = 0;
  EXPECT_EQ(::read(pipe.read.get(), &byte, 1), 0);  // comes once the last one has ended
}

TEST_F(LocalTest, OnlyPrometheusHasAPast) {
  EXPECT_EQ(read_once(shell("echo 5"), Wall{1'000'000}).failure,
            "its source knows no past; only prometheus does");
  EXPECT_EQ(read_once(shell("echo 5"), std::nullopt).samples.at(0).value, 5);
}

TEST_F(LocalTest, OnlyTheDaemonCountsItself) {
  model::MetricSource source;
  source.kind = model::MetricSource::Kind::kHostler;
  EXPECT_EQ(read_once(source, std::nullopt).failure, "only hostlerd knows its own counts");
}

}  // namespace
}  // namespace hostler::sources
