// hostler-manifest LIBRARY MANIFEST: writes the manifest of a driver. The build runs it after
// linking.
#include <cstdio>

#include "core/base/files.h"
#include "core/plugin_host/manifest.h"

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fputs("usage: hostler-manifest LIBRARY MANIFEST\n", stderr);
    return 2;
  }
  const auto manifest = hostler::plugin_host::make_manifest(argv[1]);
  const auto written = manifest ? hostler::write_file(argv[2], to_json(*manifest), 0644)
                                : tl::unexpected(manifest.error());
  if (written) return 0;
  std::fprintf(stderr, "hostler-manifest: %s\n", written.error().message.c_str());
  return 1;
}
