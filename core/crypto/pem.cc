#include "core/crypto/pem.h"

#include <openssl/err.h>
#include <openssl/pem.h>

namespace hostler::crypto {

Bio reader_of(std::string_view text) {
  return {BIO_new_mem_buf(text.data(), static_cast<int>(text.size())), &BIO_free};
}

int no_passphrase(char*, int, int, void*) { return -1; }

Result<Key> read_private_key(std::string_view pem) {
  Key key(PEM_read_bio_PrivateKey(reader_of(pem).get(), nullptr, no_passphrase, nullptr),
          &EVP_PKEY_free);
  ERR_clear_error();
  if (key) return key;
  return fail(Errc::kInvalidArgument, "the key is no private key in PEM without a passphrase");
}

}  // namespace hostler::crypto
