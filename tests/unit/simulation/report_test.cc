#include "core/simulation/report.h"

#include <gtest/gtest.h>

#include <string>

#include "core/json/document.h"
#include "core/simulation/svg.h"

namespace hostler::simulation {
namespace {

using namespace std::chrono_literals;

TEST(ReportTest, EachRunHasAColumn) {
  Report a, b;
  a.submitted = 12345;
  b.submitted = 67890;
  const std::string text = to_text({{"first", a}, {"second", b}}, "EUR");
  EXPECT_NE(text.find("12345"), std::string::npos);
  EXPECT_LT(text.find("12345"), text.find("67890"));
  EXPECT_NE(text.find("cost, EUR"), std::string::npos);
}

TEST(ReportTest, WhatWasCutShortOrRefusedIsSaid) {
  Report report;
  report.reached_limit = true;
  report.refused = 3;
  report.refusal = "more than 5 jobs wait";
  const std::string text = to_text({{"site", report}}, "");
  EXPECT_NE(text.find("at the limit of events"), std::string::npos);
  EXPECT_NE(text.find("more than 5 jobs wait"), std::string::npos);
}

TEST(ReportTest, TheJsonIsWellFormedWhateverTheNames) {
  const std::string text = to_json({{"a\"\n\x01", {}}}, "\\");
  EXPECT_TRUE(json::Document::parse(text)) << text;
}

TEST(ReportTest, TheDrawingEscapesNames) {
  Report report;
  report.samples = {{.at = 0s, .waiting = 5}, {.at = 1s, .waiting = 0}};
  const std::string text = to_svg({{"<script>&", report}});
  EXPECT_EQ(text.find("<script>"), std::string::npos);
  EXPECT_NE(text.find("&lt;script&gt;&amp;"), std::string::npos);
}

}  // namespace
}  // namespace hostler::simulation
