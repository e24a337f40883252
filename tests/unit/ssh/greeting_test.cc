#include "core/ssh/greeting.h"

#include <gtest/gtest.h>

namespace hostler::ssh {
namespace {

std::string name_list(const std::string& names) {
  return std::string("\0\0\0", 3) + static_cast<char>(names.size()) + names;
}

std::string kex_init(const std::string& host_keys) {
  return std::string("\0\0\1\0\6\x14", 6) + std::string(16, 'c') + name_list("curve25519-sha256") +
         name_list(host_keys);
}

TEST(GreetingTest, FindsTheBannerAfterOtherLines) {
  Greeting greeting;
  greeting.add("welcome\r\nSSH-2.0-Open");
  EXPECT_EQ(greeting.banner(), "");
  greeting.add("SSH_9.2p1\r\n");
  EXPECT_EQ(greeting.banner(), "SSH-2.0-OpenSSH_9.2p1");
}

TEST(GreetingTest, NamesTheKeyTypesOfAServerThatHasNoUsableOne) {
  Greeting greeting;
  greeting.add("SSH-2.0-x\r\n" + kex_init("rsa-sha2-512,rsa-sha2-256"));
  EXPECT_EQ(greeting.host_key_algorithms().size(), 2U);
  EXPECT_NE(greeting.explain().find("rsa-sha2-512, rsa-sha2-256 only"), std::string::npos);
}

TEST(GreetingTest, ExplainsNothingIfTheServerHasAUsableKey) {
  Greeting greeting;
  greeting.add("SSH-2.0-x\r\n" + kex_init("rsa-sha2-512,ssh-ed25519"));
  EXPECT_EQ(greeting.explain(), "");
}

TEST(GreetingTest, ReadsNoAlgorithmsFromACutOrDamagedKexInit) {
  const std::string whole = "SSH-2.0-x\r\n" + kex_init("rsa-sha2-512");
  for (std::size_t size = 0; size < whole.size(); ++size) {
    Greeting greeting;
    greeting.add(whole.substr(0, size));
    EXPECT_TRUE(greeting.host_key_algorithms().empty()) << size;
  }
  Greeting greeting;
  greeting.add("SSH-2.0-x\r\n" + std::string(100, '\x14'));
  EXPECT_TRUE(greeting.host_key_algorithms().empty());
}

TEST(GreetingTest, KeepsOnlyTheFirstBytesOfAFlood) {
  Greeting greeting;
  for (int i = 0; i < 100; ++i) greeting.add(std::string(1000, '\x1b'));
  EXPECT_LT(greeting.explain().size(), 200U);
}

}  // namespace
}  // namespace hostler::ssh
