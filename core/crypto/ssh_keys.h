#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/error.h"

/// SSH keys as text and bytes. libssh2 1.10 supports ed25519 and ecdsa, but not RSA with SHA-2. So
/// RSA keys are refused here, when a config is loaded, and not at the first connection.
namespace hostler::crypto {

struct SshKeyPair {
  std::string private_key;  ///< OpenSSH form, no passphrase, ends in a newline. A secret.
  std::string public_key;   ///< "ssh-ed25519 AAAA... comment", no newline.
};

/// Makes a new key for a user or a host. The comment must be one line.
SshKeyPair make_ed25519_key(std::string_view comment);

/// A public key in the form that the SSH protocol uses.
struct SshPublicKey {
  std::string type;  ///< "ssh-ed25519", "ecdsa-sha2-nistp256", ..., "ssh-rsa".
  std::string blob;  ///< RFC 4253 section 6.6.

  /// "ssh-ed25519 AAAA...", without a comment: equal keys give equal text.
  [[nodiscard]] std::string line() const;
  /// "SHA256:...", as `ssh-keygen -l` shows it.
  [[nodiscard]] std::string fingerprint() const;

  friend bool operator==(const SshPublicKey&, const SshPublicKey&) = default;
};

/// Reads the key blob that a server sent. Accepts any key type.
Result<SshPublicKey> read_key_blob(std::string_view blob);
/// Reads "type base64 [comment]". Accepts any key type; see require_usable().
Result<SshPublicKey> parse_public_key(std::string_view line);
/// Reads a private key in OpenSSH, PKCS#8 or SEC1 PEM form and returns its public half. Refuses
/// passphrases and what require_usable() refuses; messages never quote the key.
Result<SshPublicKey> parse_private_key(std::string_view text);

/// Fails unless the key is ed25519 or ecdsa. The message says what to do.
Result<void> require_usable(const SshPublicKey& key);

}  // namespace hostler::crypto
