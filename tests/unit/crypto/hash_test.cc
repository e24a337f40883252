#include "core/crypto/hash.h"

#include <gtest/gtest.h>

#include "core/base/text.h"
#include "core/crypto/random.h"

namespace hostler::crypto {
namespace {

TEST(HashTest, AgreesWithThePublishedVectors) {
  EXPECT_EQ(sha256_hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(HashTest, StreamsToTheSameDigestAndBeginsAnew) {
  Sha256 hash;
  hash.update("a").update("").update("bc");

  EXPECT_EQ(hash.finish(), sha256("abc"));
  EXPECT_EQ(hash.update("abc").finish_hex(), sha256_hex("abc"));
}

TEST(HashTest, MakesTheHmacOfRfc4231) {
  EXPECT_EQ(to_hex(hmac_sha256("Jefe", "what do ya want for nothing?")),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  EXPECT_EQ(to_hex(hmac_sha256(std::string(131, '\xaa'),
                               "Test Using Larger Than Block-Size Key - Hash Key First")),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

TEST(HashTest, ComparesWholeStrings) {
  EXPECT_TRUE(equal_in_constant_time("abc", "abc"));
  EXPECT_FALSE(equal_in_constant_time("abc", "abd"));
  EXPECT_FALSE(equal_in_constant_time("abc", "ab"));
}

TEST(RandomTest, GivesAsMuchAsAskedAndNeverTheSame) {
  EXPECT_EQ(random_bytes(33).size(), 33U);
  EXPECT_EQ(random_hex(16).size(), 32U);
  EXPECT_NE(random_hex(16), random_hex(16));
}

}  // namespace
}  // namespace hostler::crypto
