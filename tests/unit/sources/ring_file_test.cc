#include "core/sources/ring_file.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>

#include "core/sources/sample_file.h"
#include "tests/temp_folder.h"

namespace hostler::sources {
namespace {

namespace fs = std::filesystem;

model::MetricReading reading(const std::string& metric, const std::string& key, double value,
                             std::int64_t second) {
  return {.metric = metric,
          .samples = {{.key = key, .value = value, .taken = Wall{second * 1'000'000}}},
          .failure = ""};
}

/// "metric/key: 1 2 3; " of each series.
std::string text_of(const std::vector<model::MetricPast>& past) {
  std::string text;
  for (const auto& series : past) {
    text += series.metric + "/" + series.samples.at(0).key + ":";
    for (const auto& sample : series.samples) text += " " + std::to_string(int(sample.value));
    text += "; ";
  }
  return text;
}

class RingFileTest : public testing::Test {
 protected:
  RingFile open(const std::string& site = "site-a") { return RingFile::open(path, site).value(); }
  /// What a daemon finds that starts now.
  std::string found(const std::string& site = "site-a") {
    return text_of(open(site).load(Wall{}).value());
  }
  void append(const std::vector<model::MetricReading>& readings) {
    RingFile ring = open();
    (void)ring.load(Wall{}).value();
    ASSERT_TRUE(ring.append(readings));
  }
  void overwrite(std::uint64_t at, const std::string& bytes) {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(at));
    file << bytes;
  }

  test::TempFolder folder;
  const fs::path path = folder / "metrics.ring";
};

TEST_F(RingFileTest, KeepsSamplesOverRestarts) {
  EXPECT_EQ(found(), "");
  append({reading("depth", "", 1, 10), reading("rps", "web", 7, 10)});
  append({reading("depth", "", 2, 20), reading("rps", "db", 8, 20)});
  EXPECT_EQ(found(), "depth/: 1 2; rps/web: 7; rps/db: 8; ");
  EXPECT_EQ(fs::status(path).permissions(), fs::perms(0600));
}

TEST_F(RingFileTest, LoadsWhatIsAskedForOldestFirst) {
  append({reading("depth", "", 3, 30), reading("depth", "", 1, 10), reading("depth", "", 2, 20)});
  EXPECT_EQ(found(), "depth/: 1 2 3; ");
  EXPECT_EQ(text_of(open().load(Wall{20'000'000}).value()), "depth/: 2 3; ");
  EXPECT_EQ(text_of(open().load(Wall{99'000'000}).value()), "");
}

TEST_F(RingFileTest, FailuresAreNoSamples) {
  append({{.metric = "depth", .samples = {}, .failure = "down"}});
  EXPECT_EQ(found(), "");
}

TEST_F(RingFileTest, ADamagedRecordIsLeftOut) {
  append({reading("depth", "", 1, 10), reading("depth", "", 2, 20), reading("depth", "", 3, 30)});
  overwrite(ring::place_of_record(2) + 17, "X");
  EXPECT_EQ(found(), "depth/: 1 3; ");
  append({reading("depth", "", 4, 40)});
  EXPECT_EQ(found(), "depth/: 1 3 4; ");
}

TEST_F(RingFileTest, ARecordAtAnotherPlaceIsLeftOut) {
  append({reading("depth", "", 1, 10), reading("depth", "", 2, 20)});
  std::string bytes(sizeof(ring::Record), '\0');
  std::ifstream file(path, std::ios::binary);
  file.seekg(static_cast<std::streamoff>(ring::place_of_record(1)));
  file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  overwrite(ring::place_of_record(2), bytes);
  EXPECT_EQ(found(), "depth/: 1; ");
}

TEST_F(RingFileTest, ADamagedSeriesLosesItsSamplesAlone) {
  append({reading("depth", "", 1, 10), reading("rps", "web", 7, 10)});
  overwrite(ring::place_of_series(0) + 4, "X");
  EXPECT_EQ(found(), "rps/web: 7; ");
  append({reading("depth", "", 2, 20)});  // Its name is written again.
  EXPECT_EQ(found(), "depth/: 1 2; rps/web: 7; ");
}

TEST_F(RingFileTest, ACutFileKeepsWhatIsWhole) {
  append({reading("depth", "", 1, 10), reading("depth", "", 2, 20)});
  fs::resize_file(path, ring::place_of_record(2) + 5);
  EXPECT_EQ(found(), "depth/: 1; ");
}

TEST_F(RingFileTest, AFileOfAnotherSiteIsBegunAnew) {
  append({reading("depth", "", 1, 10)});
  EXPECT_EQ(found("site-b"), "");
  EXPECT_EQ(found("site-a"), "");
}

TEST_F(RingFileTest, AFileOfAnotherVersionIsBegunAnew) {
  append({reading("depth", "", 1, 10)});
  overwrite(8, std::string("\xff", 1));
  EXPECT_EQ(found(), "");
  append({reading("depth", "", 2, 20)});
  EXPECT_EQ(found(), "depth/: 2; ");
}

TEST_F(RingFileTest, GarbageIsBegunAnew) {
  for (const std::string& garbage :
       {std::string(), std::string("x"), std::string(100'000, 'g'), std::string(100'000, '\0')}) {
    folder.put("metrics.ring", garbage);
    EXPECT_EQ(found(), "");
    append({reading("depth", "", 2, 20)});
    EXPECT_EQ(found(), "depth/: 2; ");
  }
}

TEST_F(RingFileTest, GarbageBehindAGoodHeaderIsEmpty) {
  append({reading("depth", "", 1, 10)});
  overwrite(ring::kSeriesAt, std::string(8'000'000, '\xa5'));
  EXPECT_EQ(found(), "");
}

TEST_F(RingFileTest, WhatIsNoFileIsReplaced) {
  const std::string target = folder.put("target", "precious");
  fs::create_symlink(target, path);
  EXPECT_EQ(found(), "");
  EXPECT_TRUE(fs::is_regular_file(fs::symlink_status(path)));
  EXPECT_EQ(fs::file_size(target), 8U);
  fs::remove(path);

  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  EXPECT_EQ(found(), "");
  fs::remove(path);

  fs::create_directories(path / "full");
  EXPECT_EQ(found(), "");
  EXPECT_TRUE(fs::is_regular_file(path));
  EXPECT_TRUE(fs::is_directory(folder / "metrics.ring.old"));
}

// Bug: a file that another process had made huge was read to its end, so the daemon did not start.
TEST_F(RingFileTest, AFileThatIsTooLargeIsBegunAnewAndNotRead) {
  append({reading("depth", "", 1, 10)});
  fs::resize_file(path, std::uintmax_t{1} << 40U);
  EXPECT_EQ(found(), "");
  EXPECT_LE(fs::file_size(path), ring::kFileMax);
  append({reading("depth", "", 2, 20)});
  EXPECT_EQ(found(), "depth/: 2; ");
}

TEST_F(RingFileTest, AFileThatGrowsOnceItIsOpenIsReadToTheLastPlaceOfARecord) {
  append({reading("depth", "", 1, 10)});
  RingFile ring = open();
  fs::resize_file(path, std::uintmax_t{1} << 40U);
  EXPECT_EQ(text_of(ring.load(Wall{}).value()), "depth/: 1; ");
}

// A bug: after a reload and a restart, averages had samples of the old query.
TEST_F(RingFileTest, AMetricThatHasAnotherSourceLosesItsSamples) {
  auto old = reading("depth", "", 1, 10), fresh = reading("depth", "", 2, 20);
  old.source = 7;
  fresh.source = 8;
  append({old, reading("rps", "web", 5, 10)});
  EXPECT_EQ(open().load(Wall{}).value().at(0).source, 7U);
  append({fresh});
  EXPECT_EQ(found(), "depth/: 2; rps/web: 5; ");
  EXPECT_EQ(open().load(Wall{}).value().at(0).source, 8U);
}

TEST_F(RingFileTest, WhatIsAskedForDoesNotSayWhereTheFileGoesOn) {
  append({reading("depth", "", 1, 10)});
  {
    RingFile ring = open();
    EXPECT_EQ(text_of(ring.load(Wall{99'000'000}).value()), "");
    ASSERT_TRUE(ring.append({reading("depth", "", 2, 20)}));
  }
  EXPECT_EQ(found(), "depth/: 1 2; ");
}

TEST_F(RingFileTest, KeysThatChangeAtEachReadingTakeNoPlaceOfThoseThatStay) {
  RingFile ring = open();
  for (int round = 0; round < 5; ++round) {
    model::MetricReading all = reading("depth", "stays", round, round);
    for (int i = 0; i < 9'999; ++i)
      all.samples.push_back(
          {.key = std::to_string(round * 10'000 + i), .value = 1, .taken = Wall{}});
    ASSERT_TRUE(ring.append({all}));
  }
  const auto past = open().load(Wall{}).value();
  EXPECT_EQ(past.size(), ring::kSeriesMax);
  EXPECT_NE(text_of(past).find("depth/stays: 0 1 2 3 4; "), std::string::npos);
}

TEST_F(RingFileTest, AFolderThatIsMissingIsAnError) {
  EXPECT_FALSE(RingFile::open(folder / "missing/metrics.ring", "site-a"));
}

TEST_F(RingFileTest, NamesThatDoNotFitAreLeftOut) {
  append({reading("depth", std::string(256, 'k'), 1, 10), reading(std::string(64, 'm'), "", 2, 10),
          reading("depth", std::string("a\0b", 3), 3, 10), reading("", "", 4, 10),
          reading("depth", std::string(255, 'k'), 5, 10)});
  EXPECT_EQ(found(), "depth/" + std::string(255, 'k') + ": 5; ");
}

TEST_F(RingFileTest, ValuesThatAreNoNumbersStay) {
  append({reading("depth", "", std::numeric_limits<double>::infinity(), 10)});
  EXPECT_EQ(open().load(Wall{}).value().at(0).samples.at(0).value,
            std::numeric_limits<double>::infinity());
}

TEST_F(RingFileTest, ASeriesHasTheNewestTenThousand) {
  std::vector<model::MetricReading> many;
  for (int i = 0; i < 10'100; ++i) many.push_back(reading("depth", "", i, i));
  append(many);
  const auto past = open().load(Wall{}).value();
  ASSERT_EQ(past.size(), 1U);
  EXPECT_EQ(past[0].samples.size(), kSamplesOfSeriesMax);
  EXPECT_EQ(past[0].samples.front().value, 100);
  EXPECT_EQ(past[0].samples.back().value, 10'099);
}

TEST_F(RingFileTest, TheOldestRecordsMakeRoomWithin64MiB) {
  RingFile ring = open();
  const std::uint64_t blocks = ring::kRecordsMax / 10'000 + 2;
  for (std::uint64_t block = 0; block < blocks; ++block) {
    model::MetricReading all{.metric = "m" + std::to_string(block), .samples = {}, .failure = ""};
    for (int i = 0; i < 10'000; ++i)
      all.samples.push_back({.key = "", .value = double(i), .taken = Wall{i}});
    ASSERT_TRUE(ring.append({all}));
  }
  EXPECT_LE(fs::file_size(path), ring::kFileMax);
  const auto past = open().load(Wall{}).value();
  std::size_t samples = 0;
  for (const auto& series : past) samples += series.samples.size();
  EXPECT_EQ(samples, ring::kRecordsMax);
  EXPECT_EQ(past.back().metric, "m" + std::to_string(blocks - 1));
  EXPECT_EQ(past.back().samples.size(), 10'000U);
}

TEST_F(RingFileTest, ASeriesThatWasNotWrittenForLongGivesItsPlace) {
  RingFile ring = open();
  std::vector<model::MetricReading> many;
  for (std::uint32_t i = 0; i < ring::kSeriesMax; ++i)
    many.push_back(reading("depth", "i-" + std::to_string(i), i, 10));
  many.push_back(reading("depth", "i-0", 5, 20));  // the oldest one is i-1 now
  many.push_back(reading("depth", "new", 6, 20));
  ASSERT_TRUE(ring.append(many));
  const std::string all = text_of(open().load(Wall{}).value());
  EXPECT_NE(all.find("depth/i-0: 0 5; "), std::string::npos);
  EXPECT_NE(all.find("depth/new: 6; "), std::string::npos);
  EXPECT_EQ(all.find("depth/i-1: "), std::string::npos);
  EXPECT_NE(all.find("depth/i-2: 2; "), std::string::npos);
}

/// Files of this process cannot grow meanwhile.
class NoRoom {
 public:
  NoRoom() {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    handler_ = std::signal(SIGXFSZ, SIG_IGN);
    const rlimit none{0, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &none);
  }
  ~NoRoom() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }
  NoRoom(const NoRoom&) = delete;
  NoRoom& operator=(const NoRoom&) = delete;

 private:
  rlimit before_{};
  void (*handler_)(int) = nullptr;
};

TEST_F(RingFileTest, AFullDiskIsAnErrorAndLaterSamplesAreKeptAgain) {
  RingFile ring = open();
  ASSERT_TRUE(ring.append({reading("depth", "", 1, 10)}));
  {
    const NoRoom full;
    EXPECT_FALSE(ring.append({reading("depth", "", 2, 20)}));
    EXPECT_FALSE(ring.append({reading("rps", "web", 7, 20)}));
  }
  EXPECT_TRUE(ring.append({reading("depth", "", 3, 30), reading("rps", "web", 8, 30)}));
  EXPECT_EQ(found(), "depth/: 1 3; rps/web: 8; ");
}

TEST_F(RingFileTest, AThreadWritesWhatIsAppended) {
  {
    SampleFile samples(path, "site-a");
    EXPECT_EQ(text_of(samples.load(Wall{})), "");
    samples.append({reading("depth", "", 1, 10)});
    samples.append({reading("depth", "", 2, 20)});
  }
  SampleFile samples(path, "site-a");
  EXPECT_EQ(text_of(samples.load(Wall{})), "depth/: 1 2; ");
}

TEST_F(RingFileTest, WithoutAFileSamplesAreDropped) {
  SampleFile samples(folder / "missing/metrics.ring", "site-a");
  EXPECT_EQ(text_of(samples.load(Wall{})), "");
  samples.append({reading("depth", "", 1, 10)});
}

}  // namespace
}  // namespace hostler::sources
