#include <sys/mman.h>
#include <unistd.h>

#include "core/base/files.h"
#include "core/base/text.h"
#include "core/plugin_host/manifest.h"
#include "tests/fuzz/target.h"

/// A driver's manifest, which lies beside its library.
namespace hostler::fuzz {
namespace {

using plugin_host::Manifest;

/// Reads the text as the file that read_manifest() wants; it never lies on a disk.
Result<Manifest> read(std::string_view text) {
  const UniqueFd file(::memfd_create("manifest", MFD_CLOEXEC));
  promise(write_all(file.get(), text, "manifest").has_value(), "a manifest can be written");
  return plugin_host::read_manifest("/proc/self/fd/" + std::to_string(file.get()));
}

void check_error(const Error& error) {
  promise(error.message.starts_with("/proc/self/fd/"), "an error names the file", error.message);
  promise(error.code == Errc::kTooLarge || error.message.find("at ") != std::string::npos,
          "an error names its place", error.message);
  promise(is_utf8(error.message) && error.message.find('\n') == std::string::npos,
          "an error is one printable line", error.message);
}

void check_manifest(const Manifest& manifest) {
  promise(is_name(manifest.name), "a driver has a name", manifest.name);
  promise(manifest.sha256.size() == 64, "a library has its hash", manifest.sha256);
  promise(!manifest.library.empty(), "a manifest names its library");
  const std::string text = plugin_host::to_json(manifest);
  const auto again = read(text);
  promise(again.has_value(), "what is written reads back", again ? "" : again.error().message);
  promise(plugin_host::to_json(*again) == text, "what is written reads back the same", text);
}

}  // namespace
}  // namespace hostler::fuzz

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hostler::fuzz;
  const auto manifest = read(as_text(data, size));
  if (manifest)
    check_manifest(*manifest);
  else
    check_error(manifest.error());
  return 0;
}
