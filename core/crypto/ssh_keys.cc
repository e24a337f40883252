#include "core/crypto/ssh_keys.h"

#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>

#include "core/base/text.h"
#include "core/crypto/base64.h"
#include "core/crypto/hash.h"
#include "core/crypto/random.h"
#include "core/crypto/wire.h"

namespace hostler::crypto {
namespace {

constexpr std::string_view kEd25519 = "ssh-ed25519";
constexpr std::string_view kBegin = "-----BEGIN OPENSSH PRIVATE KEY-----\n";
constexpr std::string_view kEnd = "-----END OPENSSH PRIVATE KEY-----\n";

struct RawEd25519 {
  std::string seed, point;  ///< 32 bytes each.
};

RawEd25519 make_raw() {
  const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key(
      EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519"), &EVP_PKEY_free);
  std::array<std::uint8_t, 32> seed{};
  std::array<std::uint8_t, 32> point{};
  std::size_t seed_size = seed.size();
  std::size_t point_size = point.size();
  if (!key || EVP_PKEY_get_raw_private_key(key.get(), seed.data(), &seed_size) != 1 ||
      EVP_PKEY_get_raw_public_key(key.get(), point.data(), &point_size) != 1)
    std::abort();  // as in random.cc
  return {std::string(seed.begin(), seed.end()), std::string(point.begin(), point.end())};
}

/// The file format of OpenSSH's PROTOCOL.key, without a passphrase.
std::string openssh_private_key(const RawEd25519& raw, std::string_view blob,
                                std::string_view comment) {
  std::string secret;
  const std::vector<std::uint8_t> check = random_bytes(4);
  for (int i = 0; i < 2; ++i) secret.append(check.begin(), check.end());
  wire::put_string(secret, kEd25519);
  wire::put_string(secret, raw.point);
  wire::put_string(secret, raw.seed + raw.point);
  wire::put_string(secret, comment);
  for (char pad = 1; secret.size() % 8 != 0; ++pad) secret += pad;

  std::string body("openssh-key-v1\0", 15);
  wire::put_string(body, "none");  // cipher
  wire::put_string(body, "none");  // key derivation
  wire::put_string(body, "");
  wire::put_u32(body, 1);
  wire::put_string(body, blob);
  wire::put_string(body, secret);

  const std::string encoded = to_base64(body);
  std::string out(kBegin);
  for (std::size_t at = 0; at < encoded.size(); at += 70) out += encoded.substr(at, 70) + "\n";
  return out.append(kEnd);
}

}  // namespace

SshKeyPair make_ed25519_key(std::string_view comment) {
  const RawEd25519 raw = make_raw();
  SshPublicKey key{std::string(kEd25519), {}};
  wire::put_string(key.blob, kEd25519);
  wire::put_string(key.blob, raw.point);
  std::string line = key.line();
  if (!comment.empty()) line.append(" ").append(comment);
  return {openssh_private_key(raw, key.blob, comment), std::move(line)};
}

std::string SshPublicKey::line() const { return type + " " + to_base64(blob); }

std::string SshPublicKey::fingerprint() const {
  const Digest digest = sha256(blob);
  std::string text = to_base64(std::string(digest.begin(), digest.end()));
  while (text.ends_with('=')) text.pop_back();
  return "SHA256:" + text;
}

Result<SshPublicKey> read_key_blob(std::string_view blob) {
  std::string_view rest = blob;
  const auto type = wire::take_string(rest);
  const bool named = type && !type->empty() && type->size() <= 64 &&
                     std::ranges::all_of(*type, [](char c) { return c > ' ' && c < 0x7f; });
  if (!named || rest.empty()) return fail(Errc::kInvalidArgument, "not an SSH public key");
  return SshPublicKey{std::string(*type), std::string(blob)};
}

Result<SshPublicKey> parse_public_key(std::string_view line) {
  while (!line.empty() && (line.back() == '\n' || line.back() == '\r' || line.back() == ' '))
    line.remove_suffix(1);
  const std::vector<std::string_view> words = split(line, ' ');
  if (words.size() < 2)
    return fail(Errc::kInvalidArgument, "a public key must have the form 'ssh-ed25519 AAAA...'");
  const auto blob = from_base64(words[1]);
  if (!blob) return fail(Errc::kInvalidArgument, "the second word of a public key must be base64");
  auto key = HOSTLER_TRY(read_key_blob(*blob));
  if (key.type != words[0])
    return fail(Errc::kInvalidArgument, "the public key says '" + printable(words[0], 40) +
                                            "' but holds '" + printable(key.type, 40) + "'");
  return key;
}

Result<void> require_usable(const SshPublicKey& key) {
  if (key.type == kEd25519 || key.type == "ecdsa-sha2-nistp256" ||
      key.type == "ecdsa-sha2-nistp384" || key.type == "ecdsa-sha2-nistp521")
    return {};
  return fail(Errc::kInvalidArgument,
              "SSH keys of type '" + printable(key.type, 40) +
                  "' are not supported (libssh2 has no RSA with SHA-2): use an ed25519 key, "
                  "made by ssh-keygen -t ed25519");
}

}  // namespace hostler::crypto
