#include "core/crypto/signature.h"

#include <gmock/gmock.h>

#include "core/base/text.h"
#include "core/crypto/base64.h"

namespace hostler::crypto {
namespace {

using testing::HasSubstr;

// By `openssl genpkey -algorithm ed25519`, which RFC 8410 describes; the public key by `openssl
// pkey -pubout`, the signature of "the text" by `openssl pkeyutl -sign -rawin`.
constexpr const char* kPrivate = R"(-----BEGIN PRIVATE KEY-----
MC4CAQAwBQYDK2VwBCIEIEIR3T2UK2AW77KOLnXMMV6Vg6DmowfgaEH5PF1TAqdP
-----END PRIVATE KEY-----
)";
constexpr const char* kPublic = "MCowBQYDK2VwAyEAnBbhwsvxomLlX3aR18vt3QtY5zk68wmPzidyIV1Bq3E=";
constexpr const char* kOther = "MCowBQYDK2VwAyEAwX/MvUBojooUMVICP2V6lD07QioF34nWlEb4RJLEe78=";
constexpr const char* kSignature =
    "GkHTqJNFnGKiaxTJxDH/q8YIcjm4jZ7kBVbjLI0chRtZWy8REGUlApzh8pziBLIobJ94qokOKuigM33k2pZ9Cw==";

// A key of RSA with 512 bits.
constexpr const char* kRsa = R"(-----BEGIN PRIVATE KEY-----
MIIBUwIBADANBgkqhkiG9w0BAQEFAASCAT0wggE5AgEAAkEAm2Wr8x1qSgK1IXui
A/FaxiKcNfPqr2P9mYQ2FrPTlfC3LAuTiDHghiCNCQY5kNRYJ41ymom/HYUNGYf+
9qsVNQIDAQABAkBPhe5C0bDNAymyYtR8dAziDGAodBSLgP4Mi84qPAhxWBwQmiht
11RjYftFeHjThU9i1VpPOGe1P+Lq3QSwD/fBAiEAzIEUFSE7iyMRTkry1lacWfl3
DYFM48rHJwsjAc37he0CIQDChwNVH0n5xMat9h7COryaoKuhE0svRmjlEs6S5cDj
aQIgUCxmkCYYLuMPnM8bRtZrs4ZumxfO6hsMWo0uKz3y1r0CIEcY85Xb/rykN/2C
9BEHSMG3MaOImrUnpdT7v7ae9JXpAiBBIxdZCgMKBC9kOieujcrp6/1S/ltKAazw
6b2dcJkSrg==
-----END PRIVATE KEY-----
)";

TEST(SignatureTest, IsThatOfOpenssl) {
  EXPECT_EQ(to_base64(*sign(kPrivate, "the text")), kSignature);
  EXPECT_EQ(*public_key_of(kPrivate), kPublic);
  EXPECT_TRUE(is_signed_by(kPublic, "the text", *from_base64(kSignature)));
}

std::string public_key_of_point(const std::string& hex) {
  const auto point = *from_hex(hex);
  return to_base64(from_base64(kPublic)->substr(0, 12) + std::string(point.begin(), point.end()));
}

// By these keys one signature fits many texts.
TEST(SignatureTest, APointOfSmallOrderIsNoPublicKey) {
  const std::string zeros(62, '0'), ones(60, 'f');
  for (const std::string& point :
       {"00" + zeros, "01" + zeros, "ec" + ones + "7f", "ed" + ones + "7f", "ec" + ones + "ff",
        "01" + zeros.substr(2) + "80",
        std::string("26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05"),
        std::string("c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa")}) {
    const auto checked = check_public_key(public_key_of_point(point));
    ASSERT_FALSE(checked) << point;
    EXPECT_THAT(checked.error().message, HasSubstr("small order")) << point;
  }
  EXPECT_TRUE(check_public_key(kPublic));
}

TEST(SignatureTest, IsOfOneTextAndOneKeyOnly) {
  const std::string signature = *sign(kPrivate, "the text");
  std::string damaged = signature;
  damaged[40] = static_cast<char>(damaged[40] ^ 1);

  EXPECT_FALSE(is_signed_by(kPublic, "the text ", signature));
  EXPECT_FALSE(is_signed_by(kPublic, "", signature));
  EXPECT_FALSE(is_signed_by(kPublic, "the text", damaged));
  EXPECT_FALSE(is_signed_by(kOther, "the text", signature));
}

TEST(SignatureTest, WhatIsNoKeyOrNoSignatureSignsNothing) {
  const std::string signature = *sign(kPrivate, "the text");

  EXPECT_FALSE(is_signed_by("", "the text", signature));
  EXPECT_FALSE(is_signed_by("AAAA", "the text", signature));
  EXPECT_FALSE(is_signed_by(kPublic, "the text", ""));
  EXPECT_FALSE(is_signed_by(kPublic, "the text", signature.substr(1)));
  EXPECT_FALSE(is_signed_by(kPublic, "the text", signature + "x"));
}

TEST(SignatureTest, APublicKeyIsExactlyOneOfEd25519) {
  const std::string der = *from_base64(kPublic);

  EXPECT_TRUE(check_public_key(kPublic));
  EXPECT_FALSE(check_public_key(""));
  EXPECT_FALSE(check_public_key(to_base64(der.substr(0, der.size() - 1))));
  EXPECT_FALSE(check_public_key(to_base64(der + "x")));
  EXPECT_FALSE(check_public_key(std::string(kPublic) + "\n"));
  EXPECT_FALSE(check_public_key(to_base64(std::string(32, 'k')))) << "the bare key";
  EXPECT_THAT(check_public_key("AAAA").error().message, HasSubstr("openssl pkey -pubout"));
}

TEST(SignatureTest, APrivateKeyOfAnotherTypeIsNamedAndNotShown) {
  const auto wrong_type = sign(kRsa, "the text");
  ASSERT_FALSE(wrong_type);
  EXPECT_THAT(wrong_type.error().message, HasSubstr("openssl genpkey -algorithm ed25519"));

  const std::string secret = "-----BEGIN PRIVATE KEY-----\nsecret\n-----END PRIVATE KEY-----\n";
  const auto none = public_key_of(secret);
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().message, testing::Not(HasSubstr("secret")));
}

}  // namespace
}  // namespace hostler::crypto
