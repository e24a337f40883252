#include "core/agent/host/attempt/spool.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "core/base/random.h"
#include "tests/temp_folder.h"

namespace hostler::agent {
namespace {

class SpoolTest : public ::testing::Test {
 protected:
  std::string path() const { return (folder_ / "s").string(); }
  std::string file() const {
    std::ifstream in(path(), std::ios::binary);
    std::ostringstream out;
    out << in.rdbuf();
    return out.str();
  }
  /// What a reader gets, by the shape alone.
  std::string kept(const SpoolShape& shape, std::uint64_t total) const {
    const std::string bytes = file();
    std::string out;
    for (std::uint64_t at = shape.next_kept(0, total); at < total;) {
      const std::uint64_t run = std::min(shape.run(at), total - at);
      out += bytes.substr(shape.place(at), run);
      at = shape.next_kept(at + run, total);
    }
    return out;
  }
  test::TempFolder folder_;
};

TEST_F(SpoolTest, ALittleOutputMakesNoFile) {
  Spool spool(path(), {100, 100});
  spool.append("abc");

  EXPECT_FALSE(std::filesystem::exists(path()));
  EXPECT_EQ(spool.whole(), "abc");
  spool.spill();
  EXPECT_EQ(file(), "abc");
  EXPECT_EQ(spool.whole(), "abc");
}

TEST_F(SpoolTest, KeepsExactlyHeadAndTailWhateverTheWrites) {
  Random random(3);
  for (int round = 0; round < 200; ++round) {
    const SpoolShape shape{random.below(3000), random.below(3000)};
    const std::uint64_t total = 4097 + random.below(20'000);
    std::string all;
    while (all.size() < total) all += std::to_string(random.next());
    all.resize(total);
    std::filesystem::remove(path());
    Spool spool(path(), shape);
    for (std::uint64_t at = 0; at < total;) {
      const std::uint64_t size = std::min(1 + random.below(2500), total - at);
      spool.append(std::string_view(all).substr(at, size));
      if (random.chance(0.2)) spool.spill();
      at += size;
    }
    const std::string expected =
        shape.head_max + shape.tail_max >= total
            ? all
            : all.substr(0, shape.head_max) + all.substr(total - shape.tail_max);
    ASSERT_EQ(spool.problem(), "");
    ASSERT_TRUE(kept(shape, total) == expected)
        << shape.head_max << " " << shape.tail_max << " " << total;
    std::error_code missing;
    const auto size = std::filesystem::file_size(path(), missing);
    if (!missing) {
      EXPECT_LE(size, shape.head_max + shape.tail_max);
    }
  }
}

}  // namespace
}  // namespace hostler::agent
