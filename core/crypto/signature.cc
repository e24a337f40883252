#include "core/crypto/signature.h"

#include <openssl/err.h>
#include <openssl/x509.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <utility>

#include "core/base/text.h"
#include "core/crypto/base64.h"
#include "core/crypto/pem.h"

namespace hostler::crypto {
namespace {

using Context = std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)>;

const std::uint8_t* bytes_of(std::string_view text) {
  return reinterpret_cast<const std::uint8_t*>(text.data());
}

bool is_ed25519(const Key& key) { return key && EVP_PKEY_is_a(key.get(), "ED25519") == 1; }

Result<Key> read_signing_key(std::string_view pem) {
  Key key = HOSTLER_TRY(read_private_key(pem));
  if (is_ed25519(key)) return key;
  return fail(Errc::kInvalidArgument,
              "the key is not of the type ed25519; make one with 'openssl genpkey -algorithm "
              "ed25519 -out FILE'");
}

/// Null if it is none. Bytes after the key are refused.
Key read_public_key(std::string_view text) {
  const auto der = from_base64(text);
  if (!der) return {nullptr, &EVP_PKEY_free};
  const auto* at = bytes_of(*der);
  Key key(d2i_PUBKEY(nullptr, &at, static_cast<long>(der->size())), &EVP_PKEY_free);
  ERR_clear_error();
  if (at != bytes_of(*der) + der->size() || !is_ed25519(key)) key.reset();
  return key;
}

// The points of edwards25519 whose order divides 8, as bytes, without the sign of x: RFC 8032 lets
// a verifier accept them as keys, and a signature by such a key fits many texts. Also those that
// are not written in the shortest way.
constexpr std::array<std::string_view, 7> kSmallOrder{
    "0000000000000000000000000000000000000000000000000000000000000000",
    "0100000000000000000000000000000000000000000000000000000000000000",
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
    "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f"};

bool has_small_order(const Key& key) {
  std::array<std::uint8_t, 32> point{};
  std::size_t size = point.size();
  if (!key || EVP_PKEY_get_raw_public_key(key.get(), point.data(), &size) != 1) return false;
  point.back() &= 0x7fU;
  return std::ranges::find(kSmallOrder, to_hex(point)) != kSmallOrder.end();
}

}  // namespace

Result<std::string> sign(std::string_view private_key_pem, std::string_view data) {
  const Key key = HOSTLER_TRY(read_signing_key(private_key_pem));
  const Context context(EVP_MD_CTX_new(), &EVP_MD_CTX_free);
  std::string out(kSignatureSize, '\0');
  std::size_t size = out.size();
  const bool done = context &&
                    EVP_DigestSignInit(context.get(), nullptr, nullptr, nullptr, key.get()) == 1 &&
                    EVP_DigestSign(context.get(), reinterpret_cast<std::uint8_t*>(out.data()),
                                   &size, bytes_of(data), data.size()) == 1;
  ERR_clear_error();
  if (!done || size != kSignatureSize) return fail(Errc::kInternal, "OpenSSL could not sign");
  return out;
}

Result<std::string> public_key_of(std::string_view private_key_pem) {
  const Key key = HOSTLER_TRY(read_signing_key(private_key_pem));
  std::string der(static_cast<std::size_t>(std::max(0, i2d_PUBKEY(key.get(), nullptr))), '\0');
  auto* at = reinterpret_cast<std::uint8_t*>(der.data());
  if (der.empty() || i2d_PUBKEY(key.get(), &at) != static_cast<int>(der.size()))
    return fail(Errc::kInternal, "OpenSSL could not write the public key");
  return to_base64(der);
}

Result<void> check_public_key(std::string_view public_key) {
  const Key key = read_public_key(public_key);
  if (has_small_order(key))
    return fail(Errc::kInvalidArgument,
                "a point of small order, for which anybody can make signatures; it is no key that "
                "'openssl genpkey' has made");
  if (key) return {};
  return fail(Errc::kInvalidArgument,
              "not a public key of ed25519 as 'openssl pkey -pubout' prints it between its first "
              "line and its last");
}

bool is_signed_by(std::string_view public_key, std::string_view data, std::string_view signature) {
  const Key key = read_public_key(public_key);
  const Context context(EVP_MD_CTX_new(), &EVP_MD_CTX_free);
  if (!key || !context || signature.size() != kSignatureSize) return false;
  const bool is_right =
      EVP_DigestVerifyInit(context.get(), nullptr, nullptr, nullptr, key.get()) == 1 &&
      EVP_DigestVerify(context.get(), bytes_of(signature), signature.size(), bytes_of(data),
                       data.size()) == 1;
  ERR_clear_error();
  return is_right;
}

}  // namespace hostler::crypto
