#include "core/base/text.h"

#include <gmock/gmock.h>

namespace hostler {
namespace {

TEST(TextTest, KnowsWellFormedUtf8) {
  EXPECT_TRUE(is_utf8("plain \xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80"));
  for (const std::string_view bad :
       {std::string_view("\x80"), std::string_view("\xc0\x80"), std::string_view("\xed\xa0\x80"),
        std::string_view("\xf4\x90\x80\x80"), std::string_view("\xe2\x82"),
        std::string_view("a\0b", 3)})
    EXPECT_FALSE(is_utf8(bad));
}

TEST(TextTest, FindsABadByteWhereverItStands) {
  for (const char bad : {'\0', '\x80', '\xff'}) {
    for (std::size_t at = 0; at < 40; ++at) {
      std::string text(40, '\x7f');
      EXPECT_TRUE(is_utf8(text));
      text[at] = bad;
      EXPECT_FALSE(is_utf8(text)) << at;
    }
  }
}

TEST(TextTest, MakesForeignTextFitForOneLine) {
  EXPECT_EQ(printable("a\nb\x1b[0m\xff \xc3\xa9"), "a b\\u001b[0m? \xc3\xa9");
  EXPECT_EQ(printable("abcdef", 3), "abc...");
}

// Bug: U+202E turned the rest of a line in tables round, and U+009B started escape sequences.
TEST(TextTest, EscapesCharactersThatChangeHowOthersAreShown) {
  EXPECT_EQ(printable("\u202e\u2028\u2029\u061c\u200f\u2066\u200b\ufeff"),
            "\\u202e\\u2028\\u2029\\u061c\\u200f\\u2066\\u200b\\ufeff");
  EXPECT_EQ(printable("\xc2\x9b"
                      "1m\x7f"),
            "\\u009b1m\\u007f");
  EXPECT_EQ(printable("\U000e0041"), "\\udb40\\udc41");
  const std::string once = printable("a\u202e");
  EXPECT_EQ(printable(once), once);
  const std::string harmless = "\u00e9 \u20ac \u2030 \U0001f600 \u0627";
  EXPECT_EQ(printable(harmless), harmless);
}

TEST(TextTest, KnowsNamesThatFitATag) {
  EXPECT_TRUE(is_name("a-b_9"));
  EXPECT_TRUE(is_name(std::string(63, 'a')));
  for (const std::string& bad : {std::string(), std::string(64, 'a'), std::string("A"),
                                 std::string("a.b"), std::string("a b"), std::string("\xc3\xa9")})
    EXPECT_FALSE(is_name(bad)) << bad;
}

TEST(TextTest, AHostIsANameOrAnAddressAndNoOptionOrPattern) {
  for (const char* good : {"10.0.0.7", "node-7.Example", "2001:db8::1", "fe80::1%eth0", "a_b"})
    EXPECT_TRUE(is_host(good)) << good;
  for (const char* bad : {"", "-v", "*", "a,b", "a b", "[::1]", "a/b", "a\n", "\xc3\xa4"})
    EXPECT_FALSE(is_host(bad)) << bad;
  EXPECT_TRUE(is_host(std::string(kHostBytesMax, 'a')));
  EXPECT_FALSE(is_host(std::string(kHostBytesMax + 1, 'a')));
}

TEST(TextTest, HexReadsBack) {
  const std::vector<std::uint8_t> bytes{0, 15, 16, 255};
  EXPECT_EQ(to_hex(bytes), "000f10ff");
  EXPECT_EQ(from_hex("000F10ff"), bytes);
  EXPECT_FALSE(from_hex("0"));
  EXPECT_FALSE(from_hex("0g"));
}

TEST(TextTest, ReadsWholeNumbersOnly) {
  EXPECT_EQ(parse_u64("18446744073709551615"), 18446744073709551615U);
  for (const char* bad : {"", "18446744073709551616", "-1", "+1", " 1", "1 ", "0x1"})
    EXPECT_FALSE(parse_u64(bad)) << bad;
}

TEST(TextTest, AWordForTheShellIsInQuotationMarks) {
  EXPECT_EQ(shell_word(""), "''");
  EXPECT_EQ(shell_word("a b$(c)"), "'a b$(c)'");
  EXPECT_EQ(shell_word("it's"), "'it'\\''s'");
}

TEST(TextTest, SplitKeepsEmptyParts) {
  EXPECT_THAT(split("a,,b,", ','), testing::ElementsAre("a", "", "b", ""));
  EXPECT_THAT(split("", ','), testing::ElementsAre(""));
}

}  // namespace
}  // namespace hostler
