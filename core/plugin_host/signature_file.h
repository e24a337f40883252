#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "core/base/error.h"
#include "core/plugin_host/manifest.h"

/// The signature of a manifest stands beside it: 64 bytes in `<name>.hostler.json.sig`. It covers
/// the library and the driver's own files, too, whose digests are in the manifest.
namespace hostler::plugin_host {

std::filesystem::path signature_path(const std::filesystem::path& manifest);

/// The name of the site's key that has signed the manifest `file`, whose whole text is `text`. The
/// signature must be a file that only root and this user can change, as the manifest is. Blocks on
/// the file.
Result<std::string> signer_of(std::string_view text, const std::filesystem::path& file,
                              const DriverRules& rules);

/// Signs a manifest after a look at the files that it names, and writes the signature. Returns the
/// public key. The private key is a file that nobody else may read. Blocks on the files.
Result<std::string> sign_manifest(const std::filesystem::path& file,
                                  const std::filesystem::path& private_key);

}  // namespace hostler::plugin_host
