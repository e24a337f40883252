#include "core/plugin_host/manifest.h"
#include "core/base/files.h"
#include "core/base/text.h"
#include "tests/fuzz/target.h"

/// A driver's manifest, which lies beside its library.
namespace hostler::fuzz {
namespace {

using plugin_host::Manifest;

Result<Manifest> read(std::string_view text) {
  return plugin_host::parse_manifest(text, "/drivers/x.hostler.json");
}

void check_error(const Error& error) {
  promise(error.message.starts_with("/drivers/x.hostler.json"), "an error names the file",
          error.message);
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
