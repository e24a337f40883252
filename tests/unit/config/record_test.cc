// Where the calls of drivers are recorded: sets[].record.
#include <gmock/gmock.h>
#include <sys/stat.h>

#include "core/config/load.h"
#include "tests/temp_folder.h"

namespace hostler::config {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class RecordTest : public testing::Test {
 protected:
  /// A config with two sets that have these members.
  Reading read_both(const std::string& one, const std::string& two = "") {
    return read_text(R"({"types": [{"name": "t", "vcpus": 1, "ram": "1GiB", "price": 0.01}],
      "sets": [{"name": "a", "driver": "cloud")" +
                         one + R"(}, {"name": "b", "driver": "cloud")" + two + R"(}],
      "pools": [{"name": "p", "sets": ["a", "b"], "types": ["t"]}]})",
                     "/etc/hostler",
                     {.surroundings = {.is_root = true}, .state_dir = folder_ / "state"});
  }
  std::vector<std::string> problems_of(const std::string& one, const std::string& two = "") {
    std::vector<std::string> out;
    for (const Error& error : read_both(one, two).problems) out.push_back(error.message);
    return out;
  }

  const test::TempFolder folder_;
};

TEST_F(RecordTest, IsNoFileUnlessTheSetNamesOne) {
  EXPECT_EQ(read_both("").config.sets.at(0).record, "");
}

TEST_F(RecordTest, IsRelativeToTheStateFolder) {
  const auto read =
      read_both(R"(, "record": "a.jsonl", "record_max": "1GiB")", R"(, "record": "/srv/b.jsonl")");

  EXPECT_THAT(read.problems, IsEmpty());
  EXPECT_EQ(read.config.sets.at(0).record, folder_ / "state/a.jsonl");
  EXPECT_EQ(read.config.sets.at(0).record_max, 1 << 30);
  EXPECT_EQ(read.config.sets.at(1).record, "/srv/b.jsonl");
}

TEST_F(RecordTest, TwoSetsOfOneFileAreRefused) {
  EXPECT_THAT(problems_of(R"(, "record": "x")", R"(, "record": "y/../x")"),
              ElementsAre(HasSubstr("sets[1].record: another set records in ")));
}

TEST_F(RecordTest, AFolderThatOthersMayWriteToIsRefused) {
  std::filesystem::create_directory(folder_ / "shared");
  ASSERT_EQ(::chmod((folder_ / "shared").c_str(), 0777), 0);

  EXPECT_THAT(problems_of(R"(, "record": "../shared/x")"),
              ElementsAre(HasSubstr("shared is writable by everybody")));
  EXPECT_THAT(problems_of(R"(, "record": "/tmp/x")"),
              ElementsAre(HasSubstr("/tmp is a folder that everybody may write to")));
}

TEST_F(RecordTest, WhatIsNoFileAndALimitThatHoldsNothingAreRefused) {
  EXPECT_THAT(problems_of(R"(, "record": "x/")"),
              ElementsAre(HasSubstr("sets[0].record: it must be the path of a file")));
  EXPECT_THAT(problems_of(R"(, "record_max": "1KiB")"), ElementsAre(HasSubstr("64KiB")));
}

}  // namespace
}  // namespace hostler::config
