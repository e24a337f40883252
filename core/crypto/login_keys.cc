#include "core/crypto/login_keys.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <string_view>
#include <utility>

#include "core/base/text.h"
#include "core/crypto/wire.h"

namespace hostler::crypto {
namespace {

constexpr std::string_view kAdvice = "use an ed25519 key, made by ssh-keygen -t ed25519";
constexpr std::string_view kDamaged =
    "it is damaged or cut off: copy the whole line of the file that ends in .pub";
constexpr std::size_t kRsaBitsMin = 3072;
constexpr std::size_t kRsaBitsMax = 16384;  // The limit of sshd.
constexpr std::size_t kApplicationMax = 255;

tl::unexpected<Error> refused(std::string_view why) {
  return fail(Errc::kInvalidArgument, std::string(why));
}

/// The strings of a blob, in their order; "" instead of those that are cut off.
class Fields {
 public:
  explicit Fields(std::string_view blob) : rest_(blob) {}
  std::string_view next() {
    const auto field = wire::take_string(rest_);
    is_whole_ = is_whole_ && field;
    return field.value_or(std::string_view());
  }
  /// All that were taken were there, and nothing follows.
  [[nodiscard]] bool at_end() const { return is_whole_ && rest_.empty(); }

 private:
  std::string_view rest_;
  bool is_whole_ = true;
};

bool is_edwards_point(std::string_view point) { return point.size() == 32; }

/// sshd takes uncompressed points only.
bool is_curve_point(std::string_view point, std::size_t coordinate_bytes) {
  return point.size() == 1 + 2 * coordinate_bytes && point[0] == 4;
}

bool is_application(std::string_view name) {
  return !name.empty() && name.size() <= kApplicationMax &&
         name.find('\0') == std::string_view::npos;
}

/// A number above 0 in its shortest form, so that equal keys are equal bytes.
bool is_number(std::string_view bytes) {
  const auto is_high = [](char c) { return (static_cast<std::uint8_t>(c) & 0x80U) != 0; };
  if (bytes.empty() || is_high(bytes[0])) return false;
  return bytes[0] != 0 || (bytes.size() > 1 && is_high(bytes[1]));
}

/// The bits of a number without its leading zeros.
std::size_t bits_of(std::string_view bytes) {
  if (bytes[0] == 0) bytes.remove_prefix(1);
  const auto leading = std::countl_zero(static_cast<std::uint8_t>(bytes[0]));
  return 8 * bytes.size() - static_cast<std::size_t>(leading);
}

/// OpenSSL takes larger exponents only with short moduli.
bool is_exponent(std::string_view bytes) {
  return is_number(bytes) && bytes.size() <= 8 && (bytes.back() & 1) != 0 && bytes != "\1";
}

Result<void> check_rsa_size(std::size_t bits) {
  if (bits >= kRsaBitsMin && bits <= kRsaBitsMax) return {};
  return refused("it is an RSA key of " + std::to_string(bits) +
                 " bits, allowed: " + std::to_string(kRsaBitsMin) + " to " +
                 std::to_string(kRsaBitsMax) + "; " + std::string(kAdvice));
}

struct EcdsaCurve {
  std::string_view name;
  std::size_t coordinate_bytes;
};
constexpr std::array kEcdsaCurves{EcdsaCurve{"nistp256", 32}, EcdsaCurve{"nistp384", 48},
                                  EcdsaCurve{"nistp521", 66}};

bool is_ecdsa(std::string_view type, Fields& fields) {
  const std::string_view curve_name = fields.next();
  const auto* const curve = std::ranges::find(kEcdsaCurves, curve_name, &EcdsaCurve::name);
  return curve != kEcdsaCurves.end() && type.find(curve->name) != std::string_view::npos &&
         is_curve_point(fields.next(), curve->coordinate_bytes);
}

constexpr std::array<std::string_view, 7> kTypes{"ssh-ed25519",
                                                 "ecdsa-sha2-nistp256",
                                                 "ecdsa-sha2-nistp384",
                                                 "ecdsa-sha2-nistp521",
                                                 "sk-ssh-ed25519@openssh.com",
                                                 "sk-ecdsa-sha2-nistp256@openssh.com",
                                                 "ssh-rsa"};

bool is_taken(std::string_view word) { return std::ranges::find(kTypes, word) != kTypes.end(); }

/// Checks the fields of a key of one of kTypes.
Result<void> check_fields(const SshPublicKey& key) {
  Fields fields(key.blob);
  fields.next();  // The type.
  bool good = false;
  std::size_t rsa_bits = kRsaBitsMin;
  if (key.type == "ssh-rsa") {
    good = is_exponent(fields.next());
    const std::string_view modulus = fields.next();
    good = good && is_number(modulus) && (modulus.back() & 1) != 0;
    if (good) rsa_bits = bits_of(modulus);
  } else {
    const bool is_edwards = key.type.find("ed25519") != std::string::npos;
    good = is_edwards ? is_edwards_point(fields.next()) : is_ecdsa(key.type, fields);
    if (key.type.starts_with("sk-")) good = is_application(fields.next()) && good;
  }
  if (!good || !fields.at_end()) return refused(kDamaged);
  return check_rsa_size(rsa_bits);
}

/// Says why a line is refused that does not begin with one of kTypes.
tl::unexpected<Error> refuse_type(std::string_view first, std::span<const std::string_view> more) {
  if (first == "ssh-dss") return refused("DSA is too weak: " + std::string(kAdvice));
  if (first.find("-cert-v") != std::string_view::npos)
    return refused(
        "it is a certificate: give the public key itself, of the file that ends in .pub");
  if (std::ranges::any_of(more, is_taken))
    return refused("options before a key are not allowed: begin with the type of the key");
  return refused("it does not begin with a type that is taken (ed25519, ecdsa, sk- or RSA): " +
                 std::string(kAdvice));
}

Result<SshPublicKey> parse_login_key(std::string_view line) {
  if (line.find("PRIVATE KEY") != std::string_view::npos)
    return refused(
        "it is a private key, which nobody else may see: make a new one, and give the line of the "
        "file that ends in .pub");
  if (line.size() > kLoginKeyBytesMax)
    return fail(Errc::kTooLarge, "it has " + std::to_string(line.size()) +
                                     " bytes, allowed: " + std::to_string(kLoginKeyBytesMax));
  const auto is_control = [](char c) { return static_cast<std::uint8_t>(c) < ' ' || c == 0x7f; };
  if (std::ranges::any_of(line, is_control))
    return refused("it must be one line without control characters: give each key by itself");
  const std::vector<std::string_view> words = split(line, ' ');
  if (!is_taken(words[0])) return refuse_type(words[0], std::span(words).subspan(1));
  auto key = parse_public_key(line);
  if (!key) return refused(kDamaged);
  HOSTLER_TRY(check_fields(*key));
  return key;
}

}  // namespace

Result<std::vector<SshPublicKey>> parse_login_keys(std::span<const std::string> lines) {
  if (lines.size() > kLoginKeysMax)
    return fail(Errc::kTooLarge, "found " + std::to_string(lines.size()) +
                                     " keys, allowed: " + std::to_string(kLoginKeysMax));
  std::vector<SshPublicKey> out;
  for (const std::string& line : lines) {
    const std::string place = "key " + std::to_string(out.size() + 1);
    auto key = parse_login_key(line);
    if (!key) return tl::unexpected(std::move(key.error()).with_context(place));
    if (const auto same = std::ranges::find(out, *key); same != out.end())
      return refused(place + ": it is the same as key " + std::to_string(same - out.begin() + 1) +
                     ": give each key once");
    out.push_back(std::move(*key));
  }
  return out;
}

}  // namespace hostler::crypto
