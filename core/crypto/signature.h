#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "core/base/error.h"

/// Signatures by ed25519 (RFC 8032). A public key is one line: the base64 text that `openssl pkey
/// -pubout` prints between its first line and its last. All functions are for any thread.
namespace hostler::crypto {

inline constexpr std::size_t kSignatureSize = 64;  ///< Bytes.

/// The signature of `data`: what `openssl pkeyutl -sign -rawin` writes. The private key is ed25519
/// in PEM, without a passphrase. No error text contains any of it.
Result<std::string> sign(std::string_view private_key_pem, std::string_view data);
Result<std::string> public_key_of(std::string_view private_key_pem);

/// Fails if the text is no public key of ed25519, or one by which anybody can sign.
Result<void> check_public_key(std::string_view public_key);
/// False also if the key or the signature is no such thing.
bool is_signed_by(std::string_view public_key, std::string_view data, std::string_view signature);

}  // namespace hostler::crypto
