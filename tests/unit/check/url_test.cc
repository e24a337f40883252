#include "sdk/check/proxy/url.h"

#include <gtest/gtest.h>

namespace hostler::check {
namespace {

TEST(UrlTest, IsWrittenAsItWasRead) {
  for (const char* text : {"http://127.0.0.1:8080/path", "https://cloud.example:8443",
                           "http://[::1]:80/", "127.0.0.1:8080"})
    EXPECT_EQ(to_text(read_url(text).value()), text);
}

TEST(UrlTest, HasThePortOfItsScheme) {
  EXPECT_EQ(read_url("http://cloud.example/path")->port, "80");
  EXPECT_EQ(read_url("https://cloud.example")->port, "443");
}

TEST(UrlTest, IsNoOtherText) {
  EXPECT_FALSE(read_url("cloud"));
  EXPECT_FALSE(read_url(""));
}

}  // namespace
}  // namespace hostler::check
