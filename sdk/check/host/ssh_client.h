#pragma once

#include <string>

#include "core/base/error.h"
#include "core/base/files.h"
#include "core/base/time.h"

namespace hostler::check {

/// The program `ssh` of this machine, with a key of its own: how a live test logs in. Its files are
/// in memory, so that nothing is left of them when the kit is killed.
///
/// Threads: one at a time.
class SshClient {
 public:
  /// An error: there is no program ssh.
  static Result<SshClient> make();

  /// A line of authorized_keys.
  [[nodiscard]] const std::string& public_key() const { return public_key_; }
  /// Where to log in. `host_key`: the only one that is accepted, "ssh-ed25519 AAAA..."; empty: any.
  struct Target {
    std::string address, user, host_key;
    int port = 22;
  };
  /// Runs a shell command there. \return what it wrote to stdout, 64 KiB at most; an error has what
  /// ssh said. Blocks for a minute at most.
  [[nodiscard]] Result<std::string> run(const Target& target, const std::string& command) const;
  /// The host key that the machine shows now, of type ed25519, unproved.
  [[nodiscard]] Result<std::string> scan(const Target& target) const;

 private:
  SshClient(UniqueFd key, std::string public_key);

  UniqueFd key_;
  std::string public_key_;
};

}  // namespace hostler::check
