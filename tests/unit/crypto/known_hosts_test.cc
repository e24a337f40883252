#include "core/crypto/known_hosts.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <utility>

#include "core/base/files.h"
#include "core/crypto/ssh_keys.h"
#include "tests/temp_folder.h"

namespace hostler::crypto {
namespace {

std::string key_line() { return parse_public_key(make_ed25519_key("").public_key)->line(); }

TEST(KnownHostsTest, APortThatIsNotSshsIsNamedBesideTheHostInBrackets) {
  const std::string key = key_line();
  EXPECT_EQ(known_hosts_line("10.0.0.7", 22, key).value(), "10.0.0.7 " + key);
  EXPECT_EQ(known_hosts_line("10.0.0.7", 2222, key).value(), "[10.0.0.7]:2222 " + key);
  EXPECT_EQ(known_hosts_line("node-7.example", 22, key + " root@node-7").value(),
            "node-7.example " + key);
  EXPECT_EQ(known_hosts_line("2001:db8::1", 22, key).value(), "2001:db8::1 " + key);
  EXPECT_EQ(known_hosts_line("fe80::1%eth0", 2222, key).value(), "[fe80::1%eth0]:2222 " + key);
}

TEST(KnownHostsTest, SshFindsTheKeyOfEachHostAndOfNoOther) {
  const test::TempFolder folder;
  const std::string file = (folder.path() / "known_hosts").string();
  std::string all;
  // ssh asks for these names: the second is behind the first, its jump host.
  const std::pair<std::string, std::uint16_t> hosts[] = {
      {"bastion.example", 2222}, {"10.0.0.7", 22}, {"2001:db8::1", 22}, {"2001:db8::1", 2200}};
  for (const auto& [host, port] : hosts) all += *known_hosts_line(host, port, key_line()) + "\n";
  ASSERT_TRUE(write_file(file, all, 0600));
  const auto found = [&](const std::string& name) {
    const std::string command = "ssh-keygen -F '" + name + "' -f " + file + " | grep -vc '^#'";
    std::string out;
    FILE* const pipe = ::popen(command.c_str(), "re");
    for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) out += static_cast<char>(c);
    ::pclose(pipe);
    return out;
  };
  for (const char* const name : {"[bastion.example]:2222", "[Bastion.Example]:2222", "10.0.0.7",
                                 "2001:db8::1", "[2001:db8::1]:2200"})
    EXPECT_EQ(found(name), "1\n") << name;
  for (const char* const name : {"bastion.example", "[10.0.0.7]:2222", "10.0.0.70", "2001:db8::2"})
    EXPECT_EQ(found(name), "0\n") << name;
}

// A driver says the address.
TEST(KnownHostsTest, RefusesHostsThatWouldStandForOthers) {
  const std::string key = key_line();
  for (const char* const host : {"", "*", "10.0.0.7,*", "!a", "a b", "a\nb", "#a", "|1|a|b",
                                 "@cert-authority", "-oProxyCommand=x", "[a]:1"})
    EXPECT_FALSE(known_hosts_line(host, 22, key)) << host;
  EXPECT_FALSE(known_hosts_line(std::string(256, 'a'), 22, key));
  EXPECT_FALSE(known_hosts_line("a", 22, "ssh-ed25519"));
  EXPECT_FALSE(known_hosts_line("a", 22, ""));
}

}  // namespace
}  // namespace hostler::crypto
