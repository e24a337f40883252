// hostler-manifest LIBRARY MANIFEST [SANDBOX [FILE...]]: writes the manifest of a driver, which
// asks for this sandbox and has these files of its own. The build runs it after linking.
#include <algorithm>
#include <cstdio>

#include "core/base/files.h"
#include "core/plugin_host/manifest.h"

int main(int argc, char** argv) {
  const auto sandbox = hostler::model::parse_sandbox(argc > 3 ? argv[3] : "full");
  if (argc < 3 || !sandbox) {
    std::fputs("usage: hostler-manifest LIBRARY MANIFEST [full|files|none [FILE...]]\n", stderr);
    return 2;
  }
  auto manifest =
      hostler::plugin_host::make_manifest(argv[1], {argv + std::min(argc, 4), argv + argc});
  if (manifest) manifest->sandbox = *sandbox;
  const auto written = manifest ? hostler::write_file(argv[2], to_json(*manifest), 0644)
                                : tl::unexpected(manifest.error());
  if (written) return 0;
  std::fprintf(stderr, "hostler-manifest: %s\n", written.error().message.c_str());
  return 1;
}
