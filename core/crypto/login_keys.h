#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/crypto/ssh_keys.h"

namespace hostler::crypto {

inline constexpr std::size_t kLoginKeysMax = 32;
inline constexpr std::size_t kLoginKeyBytesMax = 4096;  ///< RSA of 16384 bits has 2800.

/// Reads the keys with which a holder logs in on a host that is lent: each "TYPE BASE64 [COMMENT]",
/// of which the comment is dropped. Their lines fit into authorized_keys as they are. Takes
/// ed25519, ecdsa, both also of security keys (sk-), and RSA of 3072 to 16384 bits; sshd verifies
/// these signatures, not libssh2, so require_usable() does not apply. Fails on anything else, such
/// as options, certificates and fields that are cut off, and on a key that comes twice. The message
/// names the key by its place, the first is "key 1", says what to do, and quotes no key.
Result<std::vector<SshPublicKey>> parse_login_keys(std::span<const std::string> lines);

}  // namespace hostler::crypto
