// Group A: what the file says, without running it.
#include <features.h>

#include <algorithm>

#include "core/base/files.h"
#include "core/driver_host/child/process_state.h"
#include "core/elf/elf_file.h"
#include "core/plugin_host/library_file.h"
#include "sdk/check/groups/manifest.h"
#include "sdk/check/host/session.h"

namespace hostler::check {
namespace {

constexpr std::size_t kLibraryMax = std::size_t{512} << 20U, kTlsMax = 64;

bool is_of_libc(const std::string& library) {
  constexpr std::string_view kOfLibc[]{"libc.so.6",       "libm.so.6",
                                       "libpthread.so.0", "libdl.so.2",
                                       "librt.so.1",      "ld-linux-x86-64.so.2",
                                       "libresolv.so.2",  "ld-linux-aarch64.so.1"};
  return std::find(std::begin(kOfLibc), std::end(kOfLibc), library) != std::end(kOfLibc);
}

std::optional<elf::ElfFacts> facts_of(Context& c) {
  const auto bytes = read_file(c.options.library, kLibraryMax);
  auto facts = bytes ? elf::read_elf(*bytes) : Result<elf::ElfFacts>(tl::unexpected(bytes.error()));
  if (facts) return *std::move(facts);
  c.findings.fail("R1", "", facts.error().message);
  return std::nullopt;
}

void check_library_file(Context& c) {
  const auto file = plugin_host::open_untrusted_library(c.options.library);
  const auto good = file ? plugin_host::check_elf(*file) : tl::unexpected(file.error());
  if (!good) c.findings.fail("R1", "", good.error().message);
}

void check_exports(Context& c) {
  const auto facts = facts_of(c);
  if (!facts) return;
  for (const auto& name : facts->exports)
    if (name != HOSTLER_DRIVER_ENTRY && facts->exports.size() < 100)
      c.findings.fail("R1", "", "exports " + name + ", which others may take for their own");
  if (facts->exports.size() >= 100)
    c.findings.fail("R1", "", "exports " + std::to_string(facts->exports.size()) + " symbols");
}

void check_libraries(Context& c) {
  const auto facts = facts_of(c);
  if (!facts) return;
  std::string others;
  for (const auto& library : facts->needed)
    if (!is_of_libc(library)) others += (others.empty() ? "" : ", ") + library;
  if (!others.empty()) c.findings.note("needs " + others + ": name it in the driver's package");
}

void check_glibc(Context& c) {
  const auto facts = facts_of(c);
  if (facts && elf::newest_glibc(facts->versions) > __GLIBC_MINOR__)
    c.findings.fail("R48", "",
                    "needs glibc 2." + std::to_string(elf::newest_glibc(facts->versions)) +
                        ", this SDK is for 2." + std::to_string(__GLIBC_MINOR__));
}

void check_linking(Context& c) {
  const auto facts = facts_of(c);
  if (!facts) return;
  if (facts->has_text_relocations) c.findings.fail("R49", "", "has relocations in its code");
  if (facts->has_executable_stack) c.findings.fail("R49", "", "wants an executable stack");
  if (!facts->runpath.empty() && facts->runpath != "$ORIGIN")
    c.findings.fail("R49", "", "looks for libraries in " + facts->runpath);
  if (facts->has_static_tls && facts->tls_bytes > kTlsMax)
    c.findings.fail("R49", "",
                    "has " + std::to_string(facts->tls_bytes) +
                        " bytes of thread-local storage of the kind that cannot always "
                        "be loaded");
  if (!facts->binds_now) c.findings.warn("R47", "", "was not linked with -z now");
  if (!facts->has_build_id) c.findings.warn("R47", "", "has no build id: a crash is hard to read");
  if (facts->unique_symbols > 0)
    c.findings.note(std::to_string(facts->unique_symbols) + " symbols are unique in the process");
  if (facts->constructors > 1)
    c.findings.note(std::to_string(facts->constructors) +
                    " functions run while it is loaded (constructors: its own, or of its runtime)");
}

/// The manifest beside the library, if there is one.
void check_manifest(Context& c) {
  const auto path = manifest_path(c.options);
  if (std::error_code none; !std::filesystem::exists(path, none))
    return c.findings.skip("there is no manifest " + path.filename().string() + " beside it");
  const auto manifest = read_own_manifest(c.options);
  if (!manifest) return c.findings.fail("R55", "", manifest.error().message);
  const auto made =
      plugin_host::make_manifest(c.options.library, plugin_host::own_files_of(c.options.library));
  if (!made) return c.findings.fail("R55", "", made.error().message);
  const auto differs = [&](const char* member) {
    c.findings.fail("R55", "", std::string("the manifest has another ") + member);
  };
  if (made->name != manifest->name) differs("name");
  if (made->version != manifest->version) differs("version");
  if (made->sha256 != manifest->sha256) differs("sha256");
  if (made->files != manifest->files) differs("sha256 of a file");
  if (made->extensions != manifest->extensions) differs("list of extensions");
  if (made->config_schema_json != manifest->config_schema_json) differs("config_schema");
}

}  // namespace

void add_static_tests(std::vector<Test>& to) {
  using enum Needs;
  to.push_back({"static.library", 'A', 0, kNothing,
                "it is a shared library of this machine with the entry function",
                &check_library_file});
  to.push_back(
      {"static.exports", 'A', 0, kNothing, "it exports the entry function alone", &check_exports});
  to.push_back({"static.libraries", 'A', 0, kNothing, "which libraries it needs beside libc",
                &check_libraries});
  to.push_back(
      {"static.glibc", 'A', 0, kNothing, "the system's libc is new enough for it", &check_glibc});
  to.push_back({"static.linking", 'A', 0, kNothing, "it can be loaded wherever hostler runs",
                &check_linking});
  to.push_back(
      {"static.manifest", 'A', 0, kNothing, "its manifest is that of this file", &check_manifest});
}

}  // namespace hostler::check
