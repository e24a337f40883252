#include "core/crypto/login_keys.h"

#include <gmock/gmock.h>

#include <cstdio>

#include "core/base/files.h"
#include "core/crypto/base64.h"
#include "core/crypto/wire.h"
#include "tests/temp_folder.h"

namespace hostler::crypto {
namespace {

using testing::HasSubstr;
using testing::Not;

// Made for this test by ssh-keygen; the private halves are gone.
const std::string kEd25519 =
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIPZnBwlYqhm1k3PXmrCG5hHREnVAaFx2iHNA8B4XWHXa";
const std::string kEcdsa256 =
    "ecdsa-sha2-nistp256 "
    "AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABBBDMcdkvM1zyn53MWbsjzcuM3syOhPjDrt20sBGO5RZ"
    "lz"
    "te7QKfsysZ6pMWPeEX6PUu38pZo2/qiaHoTOoCMX2Us=";

/// A line of a key whose blob has these strings after its type.
std::string key_of(const std::string& type, const std::vector<std::string>& fields,
                   const std::string& inner_type = "") {
  std::string blob;
  wire::put_string(blob, inner_type.empty() ? type : inner_type);
  for (const std::string& field : fields) wire::put_string(blob, field);
  return type + " " + to_base64(blob);
}
/// "\0\x80...\1": a positive odd number of so many bits, a multiple of 8.
std::string number_of(std::size_t bits) {
  return std::string(1, '\0') + "\x80" + std::string(bits / 8 - 2, 'n') + "\1";
}
std::string rsa(std::size_t bits) {
  return key_of("ssh-rsa", {"\1" + std::string(1, '\0') + "\1", number_of(bits)});
}
std::string point_of(std::size_t coordinate) { return "\4" + std::string(2 * coordinate, 'p'); }
const std::string kPoint32(32, 'p');

/// The message of the error; "": the keys are taken.
std::string problem(const std::vector<std::string>& lines) {
  const auto keys = parse_login_keys(lines);
  return keys ? "" : keys.error().message;
}

TEST(LoginKeysTest, TakesEveryKindOfKeyThatSshdTakesAndDropsItsComment) {
  const std::vector<std::string> lines{
      kEd25519,
      kEcdsa256,
      key_of("ecdsa-sha2-nistp384", {"nistp384", point_of(48)}),
      key_of("ecdsa-sha2-nistp521", {"nistp521", point_of(66)}),
      key_of("sk-ssh-ed25519@openssh.com", {kPoint32, "ssh:"}),
      key_of("sk-ecdsa-sha2-nistp256@openssh.com", {"nistp256", point_of(32), "ssh:work"}),
      rsa(3072),
      rsa(16384)};
  std::vector<std::string> commented;
  for (const std::string& line : lines) commented.push_back(line + " ann's key, \"new\" @home");
  const auto keys = parse_login_keys(commented);
  ASSERT_TRUE(keys) << keys.error().message;
  for (std::size_t i = 0; i < lines.size(); ++i) EXPECT_EQ(keys->at(i).line(), lines[i]);
  EXPECT_TRUE(parse_login_keys({})->empty());
}

TEST(LoginKeysTest, TakesWhatSshKeygenMakes) {
  const test::TempFolder folder;
  for (const char* const kind :
       {"ed25519", "ecdsa -b 256", "ecdsa -b 384", "ecdsa -b 521", "rsa -b 3072"}) {
    const std::string file = (folder.path() / "key").string();
    const std::string command = "rm -f " + file + " " + file + ".pub; ssh-keygen -q -t " + kind +
                                " -N '' -C 'ann@home' -f " + file;
    ASSERT_EQ(std::system(command.c_str()), 0) << kind;
    std::string line = *read_file(file + ".pub", 10000);
    line.pop_back();
    EXPECT_EQ(problem({line}), "") << kind;
  }
}

TEST(LoginKeysTest, RefusesWeakKeysAndSaysWhichKeyToUse) {
  for (const std::size_t bits : {1024U, 2048U, 3064U, 16392U}) {
    const std::string said = problem({kEd25519, rsa(bits)});
    EXPECT_THAT(said, HasSubstr("key 2: ")) << bits;
    EXPECT_THAT(said,
                HasSubstr("RSA key of " + std::to_string(bits) + " bits, allowed: 3072 to 16384"));
    EXPECT_THAT(said, HasSubstr("ssh-keygen -t ed25519"));
  }
  EXPECT_THAT(problem({key_of("ssh-dss", {"p", "q", "g", "y"})}), HasSubstr("DSA is too weak"));
}

TEST(LoginKeysTest, RefusesCertificatesOptionsAndOtherTypes) {
  EXPECT_THAT(problem({key_of("ssh-ed25519-cert-v01@openssh.com", {kPoint32})}),
              HasSubstr("certificate"));
  for (const char* const options :
       {"no-pty ", "command=\"echo hi\" ", "from=\"*\",cert-authority "})
    EXPECT_THAT(problem({options + kEd25519}), HasSubstr("options before a key")) << options;
  for (const char* const line : {"", " ", "#", "ssh-foo AAAA", "AAAA", "@cert-authority * x"})
    EXPECT_THAT(problem({line}), HasSubstr("does not begin with a type that is taken")) << line;
  EXPECT_THAT(problem({" " + kEd25519}), HasSubstr("begin with the type"));
}

TEST(LoginKeysTest, RefusesLinesThatWouldBeSeveralOrBreakAFile) {
  for (const char end : {'\n', '\r', '\0', '\t', '\x1b', '\x7f'}) {
    EXPECT_THAT(problem({kEd25519 + end + kEcdsa256}), HasSubstr("key 1: it must be one line"));
    EXPECT_THAT(problem({kEd25519 + " comment" + end}), HasSubstr("key 1: it must be one line"));
  }
  EXPECT_THAT(problem({kEd25519 + " " + std::string(kLoginKeyBytesMax, 'c')}),
              HasSubstr("bytes, allowed: 4096"));
}

// The blob of a key that is not what it seems is sshd's to read, on the holder's behalf.
TEST(LoginKeysTest, RefusesBlobsThatAreCutOffOrHoldMore) {
  const std::string high_point(33, 'p');
  const std::string zero(1, '\0');
  const std::string three = "\3";
  for (const std::string& line :
       {key_of("ssh-ed25519", {}),
        key_of("ssh-ed25519", {high_point}),
        key_of("ssh-ed25519", {kPoint32, ""}),
        key_of("ssh-ed25519", {kPoint32, kPoint32}),
        key_of("sk-ssh-ed25519@openssh.com", {kPoint32}),
        key_of("sk-ssh-ed25519@openssh.com", {kPoint32, ""}),
        key_of("sk-ssh-ed25519@openssh.com", {kPoint32, "ssh:" + zero}),
        key_of("sk-ssh-ed25519@openssh.com", {kPoint32, std::string(256, 'a')}),
        key_of("ecdsa-sha2-nistp256", {"nistp384", point_of(48)}),
        key_of("ecdsa-sha2-nistp256", {"nistp256", point_of(31)}),
        key_of("ecdsa-sha2-nistp256", {"nistp256", "\2" + kPoint32}),
        key_of("ecdsa-sha2-nistp256", {"", point_of(32)}),
        key_of("ssh-rsa", {three}),
        key_of("ssh-rsa", {three, ""}),
        key_of("ssh-rsa", {"\1", number_of(3072)}),
        key_of("ssh-rsa", {"\4", number_of(3072)}),
        key_of("ssh-rsa", {three, "\x80" + std::string(383, '\1')}),
        key_of("ssh-rsa", {three, zero + number_of(3072)}),
        key_of("ssh-rsa", {three, zero + "\x80" + std::string(383, '\2')}),
        key_of("ssh-rsa", {"\1" + std::string(8, '\1'), number_of(3072)}),
        key_of("ssh-rsa", {three, number_of(3072), ""})})
    EXPECT_THAT(problem({line}), HasSubstr("damaged or cut off")) << line;
  const std::string blob = kEd25519.substr(kEd25519.find(' ') + 1);
  EXPECT_NE(problem({kEd25519.substr(0, kEd25519.size() - 4)}), "")
      << "the last three bytes are missing";
  EXPECT_NE(problem({kEd25519.substr(0, kEd25519.size() - 1)}), "") << "no base64";
  EXPECT_NE(problem({"ssh-ed25519"}), "");
  EXPECT_NE(problem({"ssh-ed25519 " + blob.substr(0, 16)}), "");
  EXPECT_NE(problem({key_of("ssh-ed25519", {kPoint32}, "ssh-rsa")}), "")
      << "its inner type is another";
}

TEST(LoginKeysTest, RefusesAKeyThatComesTwiceAndTooMany) {
  EXPECT_THAT(problem({kEd25519, kEcdsa256 + " a", kEcdsa256 + " b"}),
              HasSubstr("key 3: it is the same as key 2"));
  std::vector<std::string> many;
  while (many.size() < kLoginKeysMax) many.push_back(rsa(3072 + 8 * many.size()));
  EXPECT_EQ(problem(many), "");
  many.resize(1000, kEd25519);
  EXPECT_THAT(problem(many), HasSubstr("found 1000 keys, allowed: 32"));
}

TEST(LoginKeysTest, NeverQuotesAKeyThatShouldNotHaveBeenSent) {
  const SshKeyPair pair = make_ed25519_key("");
  const std::string said = problem({pair.private_key});
  EXPECT_THAT(said, HasSubstr("private key"));
  for (const std::string& body :
       {pair.private_key.substr(40, 60), std::string("s3cret-password")}) {
    EXPECT_THAT(problem({body}), Not(HasSubstr(body.substr(0, 10))));
    EXPECT_THAT(problem({pair.private_key}), Not(HasSubstr(body.substr(0, 10))));
  }
}

}  // namespace
}  // namespace hostler::crypto
