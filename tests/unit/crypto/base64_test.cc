#include "core/crypto/base64.h"

#include <gtest/gtest.h>

namespace hostler::crypto {
namespace {

TEST(Base64Test, AgreesWithRfc4648) {
  EXPECT_EQ(to_base64(""), "");
  EXPECT_EQ(to_base64("f"), "Zg==");
  EXPECT_EQ(to_base64("fo"), "Zm8=");
  EXPECT_EQ(to_base64("foobar"), "Zm9vYmFy");
}

TEST(Base64Test, ReadsBackWhatItWrote) {
  for (std::size_t size = 0; size < 70; ++size) {
    std::string data;
    for (std::size_t i = 0; i < size; ++i) data += static_cast<char>(i * 37);
    EXPECT_EQ(from_base64(to_base64(data)), data);
  }
}

TEST(Base64Test, RefusesWhatIsNotCanonical) {
  for (const char* text :
       {"Zg=", "Zg", "Zh==", "Z===", "====", " Zg==", "Zg==\n", "Z g=", "Zm9v!mFy"})
    EXPECT_EQ(from_base64(text), std::nullopt) << text;
}

}  // namespace
}  // namespace hostler::crypto
