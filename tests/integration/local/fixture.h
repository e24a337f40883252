#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "folder/instance_folder.h"
#include "tests/integration/local/driver_host.h"
#include "tests/integration/local/scratch.h"

namespace hostler::local::test {

/// A scratch folder, a login key, and open sets on request. At the end everything is destroyed
/// through the driver, and the test fails if a process or a file is left.
class LocalTest : public ::testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;

  /// Opens a set, replacing the one before. `more` is what follows "root" in the config.
  void open(const std::string& more = "");
  std::string config(const std::string& more) const;

  /// A create with our login key.
  Create wish(const std::string& key) const;
  /// Created and answering SSH.
  Seen boot(const Create& create);
  Seen boot(const std::string& key) { return boot(wish(key)); }

  Ran ssh(const Seen& instance, const std::string& command) const;
  /// ssh, again until it exits with 0.
  bool reach(const Seen& instance, const std::string& command = "true") const;
  /// Whether an SSH server shows its banner there; far cheaper than ssh.
  bool answers(const Seen& instance) const;
  /// The host key that answers there, "ssh-ed25519 AAAA..."; empty: none.
  std::string host_key(const Seen& instance) const;
  bool becomes(const std::string& id, std::uint32_t state);
  std::string folder(const Seen& instance) const {
    return scratch.root() + "/instances/" + instance.id;
  }
  /// As its supervisor wrote it, with both processes: a signal to pid 0 would end the test itself.
  State state_of(const Seen& instance) const;

  Scratch scratch;
  std::unique_ptr<DriverHost> set;
};

}  // namespace hostler::local::test
