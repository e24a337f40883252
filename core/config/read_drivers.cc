#include <array>

#include "core/base/text.h"
#include "core/config/readers.h"
#include "core/crypto/signature.h"

namespace hostler::config {
namespace {

constexpr std::size_t kKeysMax = 32;
constexpr json::Word<model::DriverTrust> word_of(model::DriverTrust trust) {
  return {to_string(trust), trust};
}
constexpr std::array kTrusts{word_of(model::DriverTrust::kLocal),
                             word_of(model::DriverTrust::kPinned),
                             word_of(model::DriverTrust::kSigned)};

void read_digests(const json::Field& field, std::map<std::string, std::string>& out) {
  field.members(1000, [&](std::string_view driver, const json::Field& value) {
    if (!is_name(driver)) value.problem("a driver's name has the form [a-z0-9_-]{1,63}");
    std::string digest;
    if (!value.text(digest)) return;
    if (digest.size() == 64 && from_hex(digest) && to_hex(*from_hex(digest)) == digest)
      out[std::string(driver)] = digest;
    else
      value.refuse("a SHA-256: 64 digits of 0-9 a-f");
  });
}

void read_keys(const json::Field& field, std::map<std::string, std::string>& out) {
  field.members(kKeysMax, [&](std::string_view name, const json::Field& value) {
    if (!is_name(name)) value.problem("a key's name has the form [a-z0-9_-]{1,63}");
    std::string key;
    if (!value.text(key, {.bytes_max = 256, .one_line = true})) return;
    if (const auto checked = crypto::check_public_key(key); !checked)
      value.problem(checked.error().message);
    for (const auto& [other, known] : out)
      if (known == key) value.problem("it is the key \"" + other + "\", too");
    out[std::string(name)] = key;
  });
}

}  // namespace

void read_trusted_drivers(json::Object& o, model::TrustedDrivers& out) {
  read_digests(o.may("driver_sha256"), out.sha256);
  const json::Field trust = o.may("driver_trust");
  trust.word(out.trust, kTrusts);
  read_keys(o.may("driver_keys"), out.keys);
  if (out.trust == model::DriverTrust::kSigned && out.keys.empty())
    trust.problem("\"signed\" needs a key in driver_keys, otherwise no driver is taken");
  if (out.trust == model::DriverTrust::kPinned && out.sha256.empty())
    trust.problem("\"pinned\" needs a digest in driver_sha256, otherwise no driver is taken");
}

}  // namespace hostler::config
