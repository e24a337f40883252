#pragma once

#include <string>
#include <string_view>
#include <vector>

/// Private to core/ssh.
namespace hostler::ssh {

/// The first bytes that a peer sent, kept to say why no session came of them: what libssh2 reports
/// is "Unable to exchange encryption keys" whatever the cause. Pure.
class Greeting {
 public:
  /// Keeps the first 4 KiB.
  void add(std::string_view bytes);

  /// "SSH-2.0-OpenSSH_9.2p1 ...", or empty if no such line has come.
  [[nodiscard]] std::string_view banner() const;
  /// Host-key algorithms of the peer's KEXINIT; empty if that has not come whole.
  [[nodiscard]] std::vector<std::string> host_key_algorithms() const;
  /// Why a key exchange failed or did not even begin, and what to do; empty if it shows nothing.
  [[nodiscard]] std::string explain() const;

 private:
  std::string bytes_;
};

}  // namespace hostler::ssh
