#include "core/crypto/hash.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <cstdlib>

#include "core/base/text.h"

namespace hostler::crypto {
namespace {

/// Hashing fails only if there is no memory or libcrypto has no SHA-256. The process cannot
/// continue.
void must(bool ok) {
  if (!ok) std::abort();
}

const std::uint8_t* bytes(std::string_view data) {
  return reinterpret_cast<const std::uint8_t*>(data.data());
}

}  // namespace

struct Sha256::State {
  State() : context(EVP_MD_CTX_new()) {
    must(context != nullptr);
    begin();
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() { EVP_MD_CTX_free(context); }

  void begin() const { must(EVP_DigestInit_ex(context, EVP_sha256(), nullptr) == 1); }

  EVP_MD_CTX* context;
};

Sha256::Sha256() : state_(std::make_unique<State>()) {}
Sha256::Sha256(Sha256&&) noexcept = default;
Sha256& Sha256::operator=(Sha256&&) noexcept = default;
Sha256::~Sha256() = default;

Sha256& Sha256::update(std::string_view data) {
  must(EVP_DigestUpdate(state_->context, data.data(), data.size()) == 1);
  return *this;
}

Digest Sha256::finish() {
  Digest out{};
  must(EVP_DigestFinal_ex(state_->context, out.data(), nullptr) == 1);
  state_->begin();
  return out;
}

std::string Sha256::finish_hex() { return to_hex(finish()); }

Digest sha256(std::string_view data) {
  Digest out{};
  must(EVP_Digest(data.data(), data.size(), out.data(), nullptr, EVP_sha256(), nullptr) == 1);
  return out;
}

std::string sha256_hex(std::string_view data) { return to_hex(sha256(data)); }

Digest hmac_sha256(std::string_view key, std::string_view data) {
  Digest out{};
  must(HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), bytes(data), data.size(),
            out.data(), nullptr) != nullptr);
  return out;
}

bool equal_in_constant_time(std::string_view a, std::string_view b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace hostler::crypto
