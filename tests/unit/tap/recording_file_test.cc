// The file of a recording: where it may be, its limit, its end.
#include "core/tap/recording_file.h"

#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>

#include "core/tap/reader.h"
#include "tests/temp_folder.h"

namespace hostler::tap {
namespace {

using testing::HasSubstr;

constexpr std::string_view kRest = R"("call":"list","status":"ok","request":{},"records":[])";

class RecordingFileTest : public testing::Test {
 protected:
  Result<std::unique_ptr<RecordingFile>> open(const std::filesystem::path& path,
                                              std::uint64_t bytes_max = 1 << 20) {
    return RecordingFile::open(
        {.path = path, .bytes_max = bytes_max, .set = "west", .driver = "ec2", .clock = [this] {
           return now_;
         }});
  }
  std::string refusal(const std::filesystem::path& path, std::uint64_t bytes_max = 1 << 20) {
    const auto file = open(path, bytes_max);
    return file ? "none" : file.error().message;
  }
  static Summary read(const std::filesystem::path& path) {
    const auto read = read_recording(path, [](const Line&) { return Result<void>(); });
    EXPECT_TRUE(read) << read.error().message;
    return read.value_or(Summary{});
  }
  static std::string text(const std::filesystem::path& path) {
    return read_file(path, std::size_t{16} << 20).value_or("");
  }

  const test::TempFolder folder_;
  const std::filesystem::path path_ = folder_ / "west.jsonl";
  Now now_{Mono(std::chrono::seconds(100)), Wall{1'700'000'000'000'000}};
};

TEST_F(RecordingFileTest, WhatIsRecordedCanBeRead) {
  {
    const auto file = *open(path_);
    const Mono start = now_.mono;
    now_.mono += std::chrono::milliseconds(30);
    EXPECT_TRUE(file->append(start, kRest));
    EXPECT_TRUE(file->append(now_.mono, kRest));
  }
  const Summary read = this->read(path_);

  EXPECT_EQ(read.calls, 2U);
  EXPECT_TRUE(read.ended);
  EXPECT_EQ(read.first.set, "west");
  EXPECT_EQ(read.first.began, now_.wall);
  EXPECT_THAT(text(path_), HasSubstr(R"({"n":1,"set":"west","start_us":0,"took_us":30000,"call")"));
  EXPECT_THAT(text(path_), HasSubstr(R"({"end":"closed","calls":2})"));
}

TEST_F(RecordingFileTest, OnlyItsUserMayReadIt) {
  const auto file = *open(path_);
  struct stat info {};
  ASSERT_EQ(::stat(path_.c_str(), &info), 0);

  EXPECT_EQ(info.st_mode & 0777U, 0600U);
  EXPECT_THAT(refusal(folder_.put("readable", "", 0644)), HasSubstr("readable"));
}

TEST_F(RecordingFileTest, AFolderThatOthersMayWriteToIsRefused) {
  std::filesystem::create_directory(folder_ / "shared");
  ASSERT_EQ(::chmod((folder_ / "shared").c_str(), 0777), 0);
  EXPECT_THAT(refusal(folder_ / "shared/w"), HasSubstr("shared is writable by everybody"));

  ASSERT_EQ(::chmod((folder_ / "shared").c_str(), 01777), 0);
  EXPECT_THAT(refusal(folder_ / "shared/w"), HasSubstr("everybody may write to"));
  EXPECT_THAT(refusal(folder_ / "missing/w"), HasSubstr("missing"));
}

TEST_F(RecordingFileTest, WhatIsNoRecordingStaysAsItIs) {
  const auto other = folder_.put("other", "precious\n");
  std::filesystem::create_symlink(path_, folder_ / "link");

  EXPECT_THAT(refusal(other), HasSubstr("something else than a recording"));
  EXPECT_EQ(text(other), "precious\n");
  EXPECT_THAT(refusal(folder_ / "link"), HasSubstr("symbolic link"));
  std::filesystem::create_directory(folder_ / "folder");
  EXPECT_THAT(refusal(folder_ / "folder"), HasSubstr("folder"));
}

TEST_F(RecordingFileTest, TwoRecordersOfOneFileAreRefused) {
  const auto file = *open(path_);

  EXPECT_THAT(refusal(path_), HasSubstr("each set needs its own file"));
}

TEST_F(RecordingFileTest, ASecondSessionFollowsTheFirstAndTheHalfOfALineIsCutOff) {
  {
    const auto file = *open(path_);
    file->append(now_.mono, kRest);
  }
  folder_.put("west.jsonl", text(path_) + R"({"n":2,"set":"we)");
  {
    const auto file = *open(path_);
    file->append(now_.mono, kRest);
  }

  EXPECT_EQ(read(path_).calls, 2U);
}

TEST_F(RecordingFileTest, TheLimitIsKeptAndMarked) {
  constexpr std::uint64_t kMax = 4096;
  {
    const auto file = *open(path_, kMax);
    bool taken = true;
    for (int i = 0; i < 1000; ++i) taken = file->append(now_.mono, kRest);
    EXPECT_FALSE(taken);
  }

  EXPECT_LE(text(path_).size(), kMax);
  EXPECT_TRUE(read(path_).ended);
  EXPECT_THAT(text(path_), HasSubstr(R"("end":"limit")"));
  EXPECT_THAT(refusal(path_, text(path_).size()), HasSubstr("has reached its limit"));
}

TEST_F(RecordingFileTest, ALineThatIsTooLongIsMissingAndNothingElse) {
  {
    const auto file = *open(path_);
    const std::string huge =
        std::string(kRest) + R"(,"gone":[")" + std::string(70'000, 'x') + "\"]";
    EXPECT_FALSE(file->append(now_.mono, huge));
    EXPECT_TRUE(file->append(now_.mono, kRest));
  }

  EXPECT_EQ(read(path_).calls, 1U);
  EXPECT_EQ(read(path_).missing, 1U);
}

/// A file that may not grow stands for a full disk.
TEST_F(RecordingFileTest, AFullDiskEndsTheRecordingAndLeavesItReadable) {
  struct rlimit before {};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  {
    const auto file = *open(path_);
    const struct rlimit small { .rlim_cur = 2000, .rlim_max = before.rlim_max };
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
    while (file->append(now_.mono, kRest)) ::sched_yield();
  }
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, old_handler);

  EXPECT_LE(text(path_).size(), 2000U);
  EXPECT_GT(this->read(path_).calls, 5U);
  EXPECT_FALSE(read(path_).ended) << "there was no room for a mark";
}

}  // namespace
}  // namespace hostler::tap
