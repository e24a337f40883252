#include "tests/integration/local/fixture.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <stdexcept>

#include "fd.h"
#include "folder/files.h"

namespace hostler::local::test {

void LocalTest::SetUp() {
  ASSERT_EQ(run({"ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f",
                 scratch.path() + "/login"})
                .status,
            0);
}

void LocalTest::TearDown() {
  if (!set) return;
  set.reset();
  open();  // without dials
  for (const Seen& left : set->list().instances)
    EXPECT_EQ(set->destroy(left.id).status, HOSTLER_OK);
  EXPECT_TRUE(eventually([&] { return set->list().instances.empty(); }));
  EXPECT_EQ(names_in(scratch.root() + "/instances"), std::vector<std::string>{});
  EXPECT_EQ(names_in(scratch.root() + "/new"), std::vector<std::string>{});
  EXPECT_EQ(names_in(scratch.root() + "/kept"), std::vector<std::string>{});
  EXPECT_TRUE(eventually([&] { return processes_of(scratch.root()).empty(); }))
      << processes_of(scratch.root()).front();
}

void LocalTest::open(const std::string& more) {
  set.reset();
  set = std::make_unique<DriverHost>("set-a", config(more));
}

std::string LocalTest::config(const std::string& more) const {
  return R"({"root": ")" + scratch.root() + R"(", "port": 22022)" +
         (more.empty() ? "" : ", " + more) + "}";
}

Create LocalTest::wish(const std::string& key) const {
  Create create;
  create.key = key;
  create.login_keys = {read_file(scratch.path() + "/login.pub").value()};
  create.tags = {{"hostler-set", "set-a"}, {"hostler-key", key}};
  return create;
}

Seen LocalTest::boot(const Create& create) {
  const Outcome made = set->create(create);
  EXPECT_EQ(made.status, HOSTLER_OK) << made.message;
  if (made.instances.empty()) return {};
  EXPECT_TRUE(reach(made.instances.front()));
  return set->look(made.instances.front().id);
}

Ran LocalTest::ssh(const Seen& instance, const std::string& command) const {
  return run({"ssh", "-F", "none", "-i", scratch.path() + "/login", "-p",
              std::to_string(instance.port), "-o", "StrictHostKeyChecking=no", "-o",
              "UserKnownHostsFile=/dev/null", "-o", "LogLevel=ERROR", "-o", "BatchMode=yes",
              instance.user + "@" + instance.address, command});
}

bool LocalTest::reach(const Seen& instance, const std::string& command) const {
  return eventually([&] { return ssh(instance, command).status == 0; });
}

bool LocalTest::answers(const Seen& instance) const {
  const driver::Fd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in name{};
  name.sin_family = AF_INET;
  name.sin_port = htons(static_cast<std::uint16_t>(instance.port));
  ::inet_pton(AF_INET, instance.address.c_str(), &name.sin_addr);
  if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&name), sizeof name) != 0) return false;
  char banner[4] = {};
  return ::recv(fd.get(), banner, sizeof banner, MSG_WAITALL) == 4 &&
         std::string(banner, 4) == "SSH-";
}

std::string LocalTest::host_key(const Seen& instance) const {
  const Ran scan =
      run({"ssh-keyscan", "-t", "ed25519", "-p", std::to_string(instance.port), instance.address});
  const auto key = scan.output.find("ssh-ed25519 ");
  if (key == std::string::npos) return "";
  return scan.output.substr(key, scan.output.find('\n', key) - key);
}

State LocalTest::state_of(const Seen& instance) const {
  State state;
  const bool is_whole = eventually([&] {
    state = InstanceFolder(folder(instance)).state();
    return state.keeper.pid > 0 && state.machine.pid > 0;
  });
  if (!is_whole) throw std::runtime_error("the supervisor has not written its processes");
  return state;
}

bool LocalTest::becomes(const std::string& id, std::uint32_t state) {
  return eventually([&] { return set->look(id).state == state; });
}

}  // namespace hostler::local::test
