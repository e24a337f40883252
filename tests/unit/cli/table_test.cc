#include "core/cli/table.h"

#include <gtest/gtest.h>

namespace hostler::cli {
namespace {

using Rows = std::vector<std::vector<std::string>>;

TEST(TableTest, AlignsColumnsAndEndsNoLineInBlanks) {
  EXPECT_EQ(format_table({"ID", "STATE", "NAME"}, {{"j-1", "queued", ""}, {"j-10", "ok", "x y"}}),
            "ID    STATE   NAME\n"
            "j-1   queued\n"
            "j-10  ok      x y\n");
}

TEST(TableTest, ShowsItsHeadWithoutRows) { EXPECT_EQ(format_table({"A", "B"}, {}), "A  B\n"); }

TEST(TableTest, CutsAtTheTerminalsWidth) {
  const Rows rows{{"j-1", "a long reason"}};
  EXPECT_EQ(format_table({"ID", "BECAUSE"}, rows, 10), "ID   BECAU\nj-1  a lon\n");
  EXPECT_EQ(format_table({"ID", "BECAUSE"}, rows, 200), format_table({"ID", "BECAUSE"}, rows));
}

// Bug: bytes were counted, so that accents moved columns, and a cut could end in half a character.
TEST(TableTest, CountsCharactersNotBytes) {
  EXPECT_EQ(format_table({"NAME", "X"}, {{"caf\xc3\xa9", "1"}, {"cafes", "2"}}),
            "NAME   X\ncaf\xc3\xa9   1\ncafes  2\n");
  EXPECT_EQ(format_table({"N"}, {{"\xc3\xa9\xc3\xa9\xc3\xa9"}}, 2), "N\n\xc3\xa9\xc3\xa9\n");
}

// Bug: a job's name could carry escape sequences to the terminal of whoever lists jobs.
TEST(TableTest, NoControlCharacterReachesTheTerminal) {
  EXPECT_EQ(format_table({"NAME", "X"}, {{"a\x1b[2Jb\r\nc", "\xff"}}),
            "NAME            X\na\\u001b[2Jb  c  ?\n");
}

}  // namespace
}  // namespace hostler::cli
