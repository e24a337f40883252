#include "core/ssh/scripts.h"

#include <gmock/gmock.h>

namespace hostler::ssh::scripts {
namespace {

TEST(FillTest, ANameStandsForItsValueWhichIsNotSearched) {
  EXPECT_EQ(fill("case $x in '@OF@'*) @WHAT@ ;; esac\n", {{"OF", "@WHAT@"}, {"WHAT", "echo @OF@"}}),
            "case $x in '@WHAT@'*) echo @OF@ ;; esac\n");
}

TEST(FillTest, ANameOnALineOfItsOwnStandsForWholeLines) {
  constexpr std::string_view kScript = "a\n@LINES@\nb\n";
  EXPECT_EQ(fill(kScript, {{"LINES", ""}}), "a\nb\n");
  EXPECT_EQ(fill(kScript, {{"LINES", "1\n2\n"}}), "a\n1\n2\nb\n");
  EXPECT_EQ(fill(kScript, {{"LINES", "1\n2"}}), "a\n1\n2\nb\n");
}

TEST(FillTest, OtherSignsStayAsTheyAre) {
  EXPECT_EQ(fill("\"$@\" a@B @@ @b@ @", {}), "\"$@\" a@B @@ @b@ @");
}

TEST(ScriptsTest, HostsGetNoLinesThatAreComments) {
  for (const std::string_view script :
       {kChallenge, kInitState, kPrepareRotation, kActivateRotation, kInit, kInitRun, kDeliver,
        kAccountFunctions, kAccountNotice, kCloseAccount, kOpenAccount, kOpenRoot}) {
    EXPECT_FALSE(script.starts_with('#'));
    EXPECT_THAT(script, testing::Not(testing::ContainsRegex("\n *#")));
    EXPECT_TRUE(script.ends_with('\n'));
  }
}

}  // namespace
}  // namespace hostler::ssh::scripts
