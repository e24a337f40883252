#include "core/plugin_host/signature_file.h"

#include "core/base/files.h"
#include "core/base/trusted_file.h"
#include "core/crypto/signature.h"
#include "core/plugin_host/driver_library.h"
#include "core/plugin_host/library_file.h"

namespace hostler::plugin_host {
namespace {

constexpr std::size_t kPrivateKeyMax = 16'384;  // bytes

std::string names_of(const DriverRules& rules) {
  std::string out;
  for (const auto& [name, key] : rules.trusted.keys) out += (out.empty() ? "" : ", ") + name;
  return out.empty() ? "none" : out;
}

}  // namespace

std::filesystem::path signature_path(const std::filesystem::path& manifest) {
  return manifest.string() + ".sig";
}

Result<std::string> signer_of(std::string_view text, const std::filesystem::path& file,
                              const DriverRules& rules) {
  const auto path = signature_path(file);
  const auto signature = read_trusted_file(path, crypto::kSignatureSize, rules.state_dir);
  if (!signature)
    return fail(Errc::kForbidden,
                "driver_trust of the configuration is \"signed\": " + signature.error().message +
                    "; whoever you trust makes the file with 'hostler driver sign " +
                    file.filename().string() + "'");
  for (const auto& [name, key] : rules.trusted.keys)
    if (crypto::is_signed_by(key, text, *signature)) return name;
  return fail(Errc::kForbidden,
              path.string() + ": no key of driver_keys (" + names_of(rules) +
                  ") has made this signature of this manifest; either one of the two files was "
                  "changed, or the key is not known here");
}

Result<std::string> sign_manifest(const std::filesystem::path& file,
                                  const std::filesystem::path& private_key) {
  const std::string text = HOSTLER_TRY(read_file(file, kManifestMax));
  const Manifest manifest = HOSTLER_TRY(parse_manifest(text, file));
  HOSTLER_TRY(open_described(
      manifest, [](const std::filesystem::path& path) { return open_untrusted_library(path); }));
  const std::string key = HOSTLER_TRY(read_secret_file(private_key, kPrivateKeyMax));
  const auto in_key = [&](Error error) {
    return std::move(error).with_context(private_key.string());
  };
  const auto signature = crypto::sign(key, text).map_error(in_key);
  if (!signature) return tl::unexpected(signature.error());
  HOSTLER_TRY(write_file(signature_path(file), *signature, 0644));
  return crypto::public_key_of(key).map_error(in_key);
}

}  // namespace hostler::plugin_host
