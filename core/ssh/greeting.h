#pragma once

#include <string>
#include <string_view>
#include <vector>

/// Private to core/ssh.
namespace hostler::ssh {

/// The first bytes that a peer sent. They explain why a key exchange failed, where libssh2 always
/// reports "Unable to exchange encryption keys". Pure.
class Greeting {
 public:
  /// Records the bytes, as long as they are among the first 4 KiB.
  void add(std::string_view bytes);

  /// "SSH-2.0-OpenSSH_9.2p1 ..."; empty if the peer has sent no such line.
  [[nodiscard]] std::string_view banner() const;
  /// The host-key algorithms of the peer's KEXINIT message; empty if the message is incomplete.
  [[nodiscard]] std::vector<std::string> host_key_algorithms() const;
  /// Why the key exchange failed, and what to do; empty if the bytes do not show a cause.
  [[nodiscard]] std::string explain() const;

 private:
  std::string bytes_;
};

}  // namespace hostler::ssh
