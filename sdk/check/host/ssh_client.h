#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/base/files.h"
#include "core/base/time.h"
#include "sdk/check/site.h"

namespace hostler::check {

/// The program `ssh` of this machine: how a live test logs in. It has the keys and the jump host of
/// the site, or a key of its own. Its files are in memory, so that nothing is left of them when the
/// kit is killed.
///
/// Threads: one at a time.
class SshClient {
 public:
  /// An error: there is no program ssh.
  static Result<SshClient> make(const std::optional<Site>& site);

  /// A line of authorized_keys; of its own key.
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
  using Words = std::vector<std::string>;
  SshClient() = default;
  /// The jump host's options.
  Result<void> go_through(const config::Proxy& proxy);
  [[nodiscard]] Words to(const Target& target, const std::string& trust,
                         const UniqueFd& known) const;

  std::vector<UniqueFd> keys_, proxy_keys_;
  UniqueFd proxy_known_;
  std::string proxy_command_;  ///< Empty: there is no jump host.
  std::string public_key_;
};

}  // namespace hostler::check
