#pragma once

#include <openssl/bio.h>
#include <openssl/evp.h>

#include <memory>
#include <string_view>

#include "core/base/error.h"

/// For the sources of this library only: OpenSSL's objects, and keys in PEM.
namespace hostler::crypto {

using Bio = std::unique_ptr<BIO, decltype(&BIO_free)>;
using Key = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;

/// Reads `text`, which must outlive it.
Bio reader_of(std::string_view text);
/// For PEM_read_bio_...: OpenSSL would ask for the passphrase on the terminal.
int no_passphrase(char* buffer, int size, int writes, void* data);
/// A private key of any type without a passphrase.
Result<Key> read_private_key(std::string_view pem);

}  // namespace hostler::crypto
