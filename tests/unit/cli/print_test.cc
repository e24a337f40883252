#include "core/cli/print.h"

#include <gtest/gtest.h>

#include "core/cli/client.h"

namespace hostler::cli {
namespace {

// Bug: a job's command, in its reason, could retitle or clear the terminal of an admin.
TEST(PrintTest, NoControlCharacterReachesTheTerminal) {
  testing::internal::CaptureStdout();
  say("exec \x1b]0;x\x07\n2026 forged");
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "exec \\u001b]0;x\\u0007 2026 forged\n");
  testing::internal::CaptureStdout();
  say("\xc2\x9d"
      "0;x \xc3\xa9");
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "\\u009d0;x \xc3\xa9\n");
  testing::internal::CaptureStderr();
  EXPECT_EQ(complain({Errc::kNotFound, "no \x1b[2J"}), exit_code::kNotFound);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "hostler: no \\u001b[2J\n");
}

TEST(QueryTest, LeavesOutWhatIsEmpty) {
  EXPECT_EQ(Query("/v1/x").text(), "/v1/x");
  EXPECT_EQ(Query("/v1/x").add("a", "").add("b", "c d").add("n", 7).text(), "/v1/x?b=c%20d&n=7");
}

}  // namespace
}  // namespace hostler::cli
