#include "core/sources/token.h"

#include <gtest/gtest.h>

#include "tests/temp_folder.h"

namespace hostler::sources {
namespace {

class TokenTest : public testing::Test {
 protected:
  std::string header_of(const std::string& content, unsigned mode = 0600) {
    const auto header = authorization_of(folder.put("token", content, mode));
    if (header) return *header;
    EXPECT_EQ(header.error().message.find("s3cr3t"), std::string::npos);
    return "refused";
  }
  test::TempFolder folder;
};

TEST_F(TokenTest, IsABearerUnlessItIsOfFly) {
  EXPECT_EQ(header_of("s3cr3t\r\n"), "Authorization: Bearer s3cr3t");
  EXPECT_EQ(header_of("FlyV1 s3cr3t"), "Authorization: FlyV1 s3cr3t");
}

TEST_F(TokenTest, AFileThatOthersCouldReadIsRefused) {
  for (const unsigned mode : {0640U, 0604U, 0666U, 0620U})
    EXPECT_EQ(header_of("s3cr3t", mode), "refused") << mode;
}

TEST_F(TokenTest, AFileThatIsNoTokenIsRefused) {
  EXPECT_EQ(header_of(""), "refused");
  EXPECT_EQ(header_of(" \n"), "refused");
  EXPECT_EQ(header_of("s3cr3t\r\nX-Other: header"), "refused");
  EXPECT_EQ(header_of(std::string("s3cr3t\0x", 8)), "refused");
  EXPECT_EQ(header_of(std::string(20'000, 's')), "refused");
  EXPECT_FALSE(authorization_of((folder / "missing").string()));
}

}  // namespace
}  // namespace hostler::sources
