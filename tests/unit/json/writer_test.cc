#include "core/json/writer.h"

#include <gmock/gmock.h>

#include <cmath>

#include "core/base/random.h"
#include "core/json/document.h"

namespace hostler::json {
namespace {

TEST(WriterTest, SetsCommasByItself) {
  std::string out;
  Writer w(out);
  w.begin_object().member("a", 1).key("b").begin_array().value(true).null().begin_object();
  w.end_object().value("x").end_array().member("c", std::uint64_t{18446744073709551615U});
  w.key("d").begin_array().end_array().end_object();

  EXPECT_EQ(out, R"({"a":1,"b":[true,null,{},"x"],"c":18446744073709551615,"d":[]})");
}

TEST(WriterTest, WritesNumbersThatReadBackEqual) {
  std::string out;
  Writer w(out);
  w.begin_array().value(0.1).value(std::nan("")).value(INT64_MIN).millionths(1'250'000);
  w.millionths(-1).millionths(3'000'000).end_array();

  EXPECT_EQ(out, "[0.1,null,-9223372036854775808,1.25,-0.000001,3]");
}

TEST(WriterTest, EscapesWhatJsonNeedsAndRepairsUtf8) {
  std::string out;
  Writer(out).value(std::string_view("q\" b\\ \n\t\x01\x7f \xc3\xa9 \xff\xc3 \0.", 19));

  EXPECT_EQ(out, "\"q\\\" b\\\\ \\n\\t\\u0001\\u007f \xc3\xa9 \xef\xbf\xbd\xef\xbf\xbd \\u0000.\"");
}

// Bug: what programs print of such documents changed how a terminal shows the rest.
TEST(WriterTest, EscapesWhatChangesHowATerminalShowsTheRest) {
  std::string out;
  Writer(out).value("\u202e\u2028\xc2\x9b\U000e0041 \u20ac");
  EXPECT_EQ(out, "\"\\u202e\\u2028\\u009b\\udb40\\udc41 \u20ac\"");
  const auto back = Document::parse(out);
  ASSERT_TRUE(back);
  EXPECT_EQ(back->root().text(), "\u202e\u2028\xc2\x9b\U000e0041 \u20ac");
}

TEST(WriterTest, AnyBytesGiveADocumentThatParses) {
  Random random(1);
  for (int round = 0; round < 2000; ++round) {
    std::string bytes;
    for (std::uint64_t n = random.below(20); n > 0; --n)
      bytes += static_cast<char>(random.below(256));
    std::string out;
    Writer(out).begin_object().member(bytes, bytes).end_object();

    const auto document = Document::parse(out);

    ASSERT_TRUE(document) << document.error().message;
    EXPECT_EQ(to_text(document->root()), out);
  }
}

}  // namespace
}  // namespace hostler::json
