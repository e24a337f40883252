#include "sdk/hosts/command/options.h"

#include <gtest/gtest.h>

#include "sdk/hosts/system/failure.h"

namespace hostler::machines {
namespace {

std::string problem_of(const std::vector<std::string>& words, bool is_root = true) {
  try {
    read_options(words, is_root);
    return "";
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.code, "usage");
    return failure.what();
  }
}

TEST(HostsOptionsTest, GivesTheCommandAfterTheDashesAsItIs) {
  const Options options = read_options({"run", "--max", "3", "--", "sh", "--max", "--"}, true);

  EXPECT_EQ(options.program, (std::vector<std::string>{"sh", "--max", "--"}));
  EXPECT_EQ(options.keeper.machines_max, 3);
}

TEST(HostsOptionsTest, TakesABridgeOnlyForACommandOfRoot) {
  EXPECT_TRUE(read_options({"run", "--", "true"}, true).keeper.bridge);
  EXPECT_FALSE(read_options({"run", "--", "true"}, false).keeper.bridge);
  EXPECT_FALSE(read_options({"serve", "--folder", "f"}, true).keeper.bridge);
  EXPECT_NE(problem_of({"run", "--network", "bridge", "--", "true"}, false), "");
}

TEST(HostsOptionsTest, RefusesPortsThatAnOrdinaryUserCannotHave) {
  EXPECT_EQ(problem_of({"serve", "--folder", "f", "--port", "22"}, true), "");
  EXPECT_NE(problem_of({"serve", "--folder", "f", "--port", "22"}, false), "");
}

TEST(HostsOptionsTest, SaysWhatIsMissingOrUnknown) {
  EXPECT_NE(problem_of({}), "");
  EXPECT_NE(problem_of({"serve"}).find("--folder"), std::string::npos);
  EXPECT_NE(problem_of({"create"}).find("--key"), std::string::npos);
  EXPECT_NE(problem_of({"destroy"}).find("id"), std::string::npos);
  EXPECT_NE(problem_of({"list", "--key", "a"}).find("--key"), std::string::npos);
  EXPECT_NE(problem_of({"list", "--folder"}).find("--folder"), std::string::npos);
  EXPECT_NE(problem_of({"run", "--max", "0", "--", "true"}).find("--max"), std::string::npos);
}

}  // namespace
}  // namespace hostler::machines
