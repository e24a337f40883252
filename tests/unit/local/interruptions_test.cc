#include "interruptions.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace hostler::local {
namespace {

TEST(LocalInterruptionsTest, ReadsLinesAndSkipsThoseThatAreNone) {
  const std::string path = testing::TempDir() + "/interruptions";
  std::ofstream(path) << "i-1 1700000000 stop the price rose\n"
                         "i-2 0 whatever\n"
                         "i-3 -5 terminate\n"
                         "i-4 99999999999999 terminate\n"
                         "\n"
                         "i-5 soon terminate\n";
  const Notices read = read_notices(path);
  std::filesystem::remove(path);

  ASSERT_EQ(read.size(), 2U);
  EXPECT_EQ(read.at("i-1"),
            (NoticeLine{1'700'000'000'000'000'000, HOSTLER_INTERRUPTION_STOP, "the price rose"}));
  EXPECT_EQ(read.at("i-2"), (NoticeLine{0, HOSTLER_INTERRUPTION_NOT_SAID, ""}));
  EXPECT_TRUE(read_notices(path).empty()) << "without the file";
}

}  // namespace
}  // namespace hostler::local
