#include <gmock/gmock.h>

#include "core/config/load.h"
#include "core/crypto/ssh_keys.h"
#include "tests/temp_folder.h"

namespace hostler::config {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class ProxyTest : public testing::Test {
 protected:
  Reading read(const std::string& proxy) {
    return read_text(R"({
        "types": [{"name": "t", "vcpus": 1, "ram": "1GiB", "price": 0.01}],
        "sets": [{"name": "s", "driver": "local", "proxy": )" +
                         proxy + R"(}], "pools": [{"name": "p", "sets": ["s"], "types": ["t"]}]})",
                     folder_.path(), {.surroundings = {.is_root = true}, .state_dir = {}});
  }
  std::string problem(const std::string& proxy) {
    const Reading reading = read(proxy);
    return reading.problems.empty() ? "good" : reading.problems[0].message;
  }
  [[nodiscard]] std::string with(const std::string& address, const std::string& more = "") const {
    return R"({"address": ")" + address + R"(", "user": "jump", "host_key": ")" + pair_.public_key +
           "\"" + more + "}";
  }

  test::TempFolder folder_;
  crypto::SshKeyPair pair_ = crypto::make_ed25519_key("comment");
};

TEST_F(ProxyTest, ReadsAddressUserKeysAndHostKey) {
  folder_.put("k", pair_.private_key);

  const Reading reading = read(with("bastion.example:2222", R"(, "user_key_files": ["k"])"));

  ASSERT_THAT(reading.problems, IsEmpty());
  const Proxy& proxy = *reading.config.sets[0].proxy;
  EXPECT_EQ(proxy.host, "bastion.example");
  EXPECT_EQ(proxy.port, 2222);
  EXPECT_EQ(proxy.user, "jump");
  EXPECT_EQ(proxy.user_keys[0].private_key, pair_.private_key);
  EXPECT_EQ(proxy.host_key, crypto::parse_public_key(pair_.public_key)->line());
  EXPECT_EQ(reading.config.site.sets[0].jump_host, "bastion.example:2222");
}

TEST_F(ProxyTest, UnderstandsAddressesOfAllKinds) {
  const std::vector<std::pair<std::string, std::string>> names{
      {"bastion.example", "bastion.example:22"},
      {"10.0.0.1", "10.0.0.1:22"},
      {"10.0.0.1:1", "10.0.0.1:1"},
      {"2001:db8::1", "[2001:db8::1]:22"},
      {"[2001:db8::1]:77", "[2001:db8::1]:77"},
      {"[2001:db8::1]", "[2001:db8::1]:22"}};
  for (const auto& [address, name] : names) {
    const Reading reading = read(with(address));
    ASSERT_THAT(reading.problems, IsEmpty()) << address;
    EXPECT_EQ(reading.config.sets[0].proxy->name(), name);
  }
}

TEST_F(ProxyTest, RefusesWhatIsNoAddress) {
  for (const char* const address : {"", "host:0", "host:65536", "host:ssh", ":22", "[::1",
                                    "[::1]22", "a b", "-oProxyCommand=x", "user@host", "[]:22"})
    EXPECT_THAT(problem(with(address)), HasSubstr("sets[0].proxy.address")) << address;
}

TEST_F(ProxyTest, NeedsAHostKeyThatItCanUse) {
  EXPECT_THAT(problem(R"({"address": "a", "user": "u"})"), HasSubstr("host_key"));
  for (const char* const key : {"", "ssh-ed25519", "ssh-ed25519 AAAA", "bastion ssh-ed25519 AAAA"})
    EXPECT_THAT(
        problem(R"({"address": "a", "user": "u", "host_key": ")" + std::string(key) + "\"}"),
        HasSubstr("sets[0].proxy.host_key"))
        << key;
}

TEST_F(ProxyTest, NeverQuotesItsPrivateKeys) {
  folder_.put("k", "hush");

  const std::string text = problem(with("a", R"(, "user_key_files": ["k"])"));

  EXPECT_THAT(text, HasSubstr("sets[0].proxy.user_key_files[0]"));
  EXPECT_THAT(text, Not(HasSubstr("hush")));
}

}  // namespace
}  // namespace hostler::config
