#include "core/cli/gpus.h"

#include <gmock/gmock.h>

#include "core/cli/work_text.h"

namespace hostler::cli {
namespace {

using testing::HasSubstr;

/// The members that work gets of these options.
std::string work_of(const std::string& gpus, const std::string& memory) {
  WorkOptions options;
  options.gpus = gpus, options.gpu_memory = memory;
  std::string out;
  json::Writer w(out);
  w.begin_object();
  EXPECT_TRUE(write_work(w, options));
  w.end_object();
  return out;
}

TEST(GpusOptionTest, ANumberOrAKindAndANumber) {
  EXPECT_EQ(work_of("", ""), R"({"needs":{}})");
  EXPECT_EQ(work_of("2", ""), R"({"needs":{"gpus":2}})");
  EXPECT_EQ(work_of("a100:2", ""), R"({"needs":{"gpus":{"count":2,"kind":"a100"}}})");
  EXPECT_EQ(work_of("a100:2", "40GiB"),
            R"({"needs":{"gpus":{"count":2,"kind":"a100","memory":"40GiB"}}})");
  EXPECT_EQ(work_of("1", "40GiB"), R"({"needs":{"gpus":{"count":1,"memory":"40GiB"}}})");
}

TEST(GpusOptionTest, OtherWordsAreRefusedWithWhatToWrite) {
  for (const char* bad : {"", "a100", "a100:", ":2", "a100:0", "A100:2", "2:a100", "0.5", "-1",
                          "1e9", "1048577", "a100:2:40GiB", "a b:1"}) {
    const auto read = parse_gpus(bad);
    ASSERT_FALSE(read) << bad;
    EXPECT_THAT(read.error().message,
                HasSubstr("a kind in small letters and a number, such as a100:2"));
  }
  EXPECT_EQ(parse_gpus("0")->count, 0);
}

TEST(GpusTextTest, SaysHowManyOfWhichKind) {
  const auto said = [](const std::string& json) {
    const auto document = json::Document::parse("[" + json + "]");
    const json::Value gpus = *document->root().children().begin();
    return gpus.is(json::Kind::kArray) ? gpus_cell(gpus) : gpus_text(gpus) + "; " + gpus_cell(gpus);
  };
  EXPECT_EQ(said("1"), "1 gpu; 1");
  EXPECT_EQ(said("2"), "2 gpus; 2");
  EXPECT_EQ(said(R"({"count":2,"kind":"a100"})"), "2 gpus of kind a100; 2 a100");
  EXPECT_EQ(said(R"({"count":2,"kind":"a100","memory":"40GiB"})"),
            "2 gpus of kind a100 with 40GiB each; 2 a100 40GiB");
  EXPECT_EQ(said(R"({"count":1,"memory":"40GiB"})"), "1 gpu with 40GiB; 1 40GiB");
  EXPECT_EQ(said(R"([{"count":1},{"count":4,"kind":"t4"}])"), "1, 4 t4");
}

}  // namespace
}  // namespace hostler::cli
