#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

#include <algorithm>
#include <array>
#include <memory>

#include "core/crypto/base64.h"
#include "core/crypto/ssh_keys.h"
#include "core/crypto/wire.h"

namespace hostler::crypto {
namespace {

constexpr std::size_t kPrivateKeyMax = 65536;

Result<SshPublicKey> no_private_key(std::string_view why) {
  return fail(Errc::kInvalidArgument, "not a usable SSH private key: " + std::string(why));
}

Result<SshPublicKey> passphrase() {
  return no_private_key("it has a passphrase; remove it with ssh-keygen -p -N ''");
}

/// The text between the BEGIN and END lines, white space removed.
std::string pem_body(std::string_view text, std::string_view begin, std::string_view end) {
  const std::size_t from = text.find(begin);
  const std::size_t to = text.find(end);
  if (from == std::string_view::npos || to == std::string_view::npos || to < from) return {};
  std::string body(text.substr(from + begin.size(), to - from - begin.size()));
  std::erase_if(body, [](char c) { return c == '\n' || c == '\r' || c == ' '; });
  return body;
}

/// The OpenSSH form contains the public key in clear text.
Result<SshPublicKey> from_openssh(std::string_view text) {
  const auto data = from_base64(
      pem_body(text, "-----BEGIN OPENSSH PRIVATE KEY-----", "-----END OPENSSH PRIVATE KEY-----"));
  constexpr std::string_view kMagic("openssh-key-v1\0", 15);
  if (!data || !data->starts_with(kMagic)) return no_private_key("its OpenSSH form is damaged");
  std::string_view in = std::string_view(*data).substr(kMagic.size());
  const auto cipher = wire::take_string(in);
  const auto kdf = wire::take_string(in);
  const auto options = wire::take_string(in);
  const auto count = wire::take_u32(in);
  const auto blob = wire::take_string(in);
  const auto secret = wire::take_string(in);
  if (!cipher || !kdf || !options || !count || !blob || !secret || *count != 1)
    return no_private_key("its OpenSSH form is damaged");
  if (*cipher != "none") return passphrase();
  return read_key_blob(*blob);
}

SshPublicKey ed25519_of(EVP_PKEY* key) {
  std::array<std::uint8_t, 32> point{};
  std::size_t size = point.size();
  EVP_PKEY_get_raw_public_key(key, point.data(), &size);
  SshPublicKey out{"ssh-ed25519", {}};
  wire::put_string(out.blob, out.type);
  wire::put_string(out.blob, std::string(point.begin(), point.end()));
  return out;
}

Result<SshPublicKey> ecdsa_of(EVP_PKEY* key) {
  struct Curve {
    std::string_view openssl, ssh;
  };
  constexpr std::array kCurves{Curve{"prime256v1", "nistp256"}, Curve{"secp384r1", "nistp384"},
                               Curve{"secp521r1", "nistp521"}};
  std::array<char, 64> group{};
  std::array<std::uint8_t, 256> point{};
  std::size_t size = 0;
  if (EVP_PKEY_get_group_name(key, group.data(), group.size(), nullptr) != 1 ||
      EVP_PKEY_set_utf8_string_param(key, OSSL_PKEY_PARAM_EC_POINT_CONVERSION_FORMAT,
                                     "uncompressed") != 1 ||
      EVP_PKEY_get_octet_string_param(key, OSSL_PKEY_PARAM_PUB_KEY, point.data(), point.size(),
                                      &size) != 1)
    return no_private_key("its elliptic curve cannot be read");
  const auto* const curve =
      std::ranges::find(kCurves, std::string_view(group.data()), &Curve::openssl);
  if (curve == kCurves.end()) return no_private_key("SSH does not support its elliptic curve");
  SshPublicKey out{"ecdsa-sha2-" + std::string(curve->ssh), {}};
  wire::put_string(out.blob, out.type);
  wire::put_string(out.blob, curve->ssh);
  wire::put_string(out.blob, std::string(point.begin(), point.begin() + static_cast<long>(size)));
  return out;
}

Result<SshPublicKey> from_pem(std::string_view text) {
  const std::unique_ptr<BIO, decltype(&BIO_free)> in(
      BIO_new_mem_buf(text.data(), static_cast<int>(text.size())), &BIO_free);
  // Without a callback libcrypto would ask for a passphrase on the terminal.
  bool asked = false;
  const auto refuse = [](char*, int, int, void* was_asked) {
    *static_cast<bool*>(was_asked) = true;
    return -1;
  };
  const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key(
      PEM_read_bio_PrivateKey(in.get(), nullptr, refuse, &asked), &EVP_PKEY_free);
  if (asked) return passphrase();
  if (!key) return no_private_key("it is neither OpenSSH, PKCS#8 nor SEC1 PEM");
  if (EVP_PKEY_is_a(key.get(), "ED25519")) return ed25519_of(key.get());
  if (EVP_PKEY_is_a(key.get(), "EC")) return ecdsa_of(key.get());
  if (EVP_PKEY_is_a(key.get(), "RSA")) return SshPublicKey{"ssh-rsa", {}};
  return no_private_key("SSH does not support this kind of key");
}

}  // namespace

Result<SshPublicKey> parse_private_key(std::string_view text) {
  if (text.size() > kPrivateKeyMax) return no_private_key("it is too long");
  const bool openssh = text.find("BEGIN OPENSSH PRIVATE KEY") != std::string_view::npos;
  auto key = openssh ? from_openssh(text) : from_pem(text);
  if (!key) return key;
  HOSTLER_TRY(require_usable(*key));
  return key;
}

}  // namespace hostler::crypto
