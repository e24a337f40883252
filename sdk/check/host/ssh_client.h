#pragma once

#include <filesystem>
#include <string>

#include "core/base/error.h"
#include "core/base/time.h"

namespace hostler::check {

/// The program `ssh` of this machine, with a key of its own: how a live test logs in. Its files are
/// in a folder that is removed with the object.
///
/// Threads: one at a time.
class SshClient {
 public:
  /// An error: there is no program ssh, or no folder can be made.
  static Result<SshClient> make();
  ~SshClient();
  SshClient(SshClient&& other) noexcept;
  SshClient(const SshClient&) = delete;
  SshClient& operator=(const SshClient&) = delete;

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
  SshClient(std::filesystem::path folder, std::string public_key);

  std::filesystem::path folder_;
  std::string public_key_;
};

}  // namespace hostler::check
