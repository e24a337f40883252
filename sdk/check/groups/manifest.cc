#include "sdk/check/groups/manifest.h"

#include "core/base/files.h"

namespace hostler::check {

std::filesystem::path manifest_path(const Options& options) {
  auto path = options.library;
  return path.replace_extension(".json");
}

Result<plugin_host::Manifest> read_own_manifest(const Options& options) {
  constexpr std::size_t kManifestMax = std::size_t{1} << 20U;
  const auto path = manifest_path(options);
  const std::string text = HOSTLER_TRY(read_file(path, kManifestMax));
  return plugin_host::parse_manifest(text, path);
}

}  // namespace hostler::check
