// hostler-manifest LIBRARY MANIFEST [SANDBOX]: writes the manifest of a driver, which asks for this
// sandbox. The build runs it after linking.
#include <cstdio>

#include "core/base/files.h"
#include "core/plugin_host/manifest.h"

int main(int argc, char** argv) {
  const auto sandbox = hostler::model::parse_sandbox(argc == 4 ? argv[3] : "full");
  if ((argc != 3 && argc != 4) || !sandbox) {
    std::fputs("usage: hostler-manifest LIBRARY MANIFEST [full|files|none]\n", stderr);
    return 2;
  }
  auto manifest = hostler::plugin_host::make_manifest(argv[1]);
  if (manifest) manifest->sandbox = *sandbox;
  const auto written = manifest ? hostler::write_file(argv[2], to_json(*manifest), 0644)
                                : tl::unexpected(manifest.error());
  if (written) return 0;
  std::fprintf(stderr, "hostler-manifest: %s\n", written.error().message.c_str());
  return 1;
}
