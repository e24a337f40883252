#include "core/plugin_host/manifest.h"

#include <utility>

#include "core/base/files.h"
#include "core/base/text.h"
#include "core/base/trusted_file.h"
#include "core/crypto/hash.h"
#include "core/json/reader.h"
#include "core/json/schema.h"
#include "core/json/writer.h"
#include "core/plugin_host/driver_facts.h"
#include "core/plugin_host/driver_library.h"
#include "core/plugin_host/library_file.h"
#include "core/plugin_host/offered_files.h"
#include "core/plugin_host/signature_file.h"
#include "hostler/driver.h"

namespace hostler::plugin_host {
namespace {

constexpr int kVersion = 1;

constexpr std::array kSandboxes{json::Word<model::Sandbox>{"full", model::Sandbox::kFull},
                                json::Word<model::Sandbox>{"files", model::Sandbox::kFiles},
                                json::Word<model::Sandbox>{"none", model::Sandbox::kNone}};

std::string text(const char* s) { return s == nullptr ? std::string() : printable(s); }

bool is_digest(const std::string& text) { return text.size() == 64 && from_hex(text); }

void read_library(json::Object& o, Manifest& m) {
  std::string path;
  if (o.need("path").text(path, {.bytes_max = 4096, .bytes_min = 1, .one_line = true})) {
    m.library = path;
  }
  const auto sha256 = o.need("sha256");
  if (sha256.text(m.sha256) && !is_digest(m.sha256)) sha256.refuse("64 hexadecimal digits");
  o.may("arch").text(m.arch);
  o.may("os").text(m.os);
  o.tolerate_unknown(m.unknown_keys);
}

void read_file_of(Manifest& m, json::Object& o) {
  NamedFile file;
  const auto name = o.need("name"), sha256 = o.need("sha256");
  if (name.text(file.name, {.one_line = true}) && !is_own_file_name(file.name))
    name.refuse("the name of a file beside the library");
  for (const NamedFile& other : m.files)
    if (other.name == file.name) name.problem("it is named twice");
  if (sha256.text(file.sha256) && !is_digest(file.sha256)) sha256.refuse("64 hexadecimal digits");
  m.files.push_back(std::move(file));
}

}  // namespace

Result<Manifest> make_manifest(const LibraryFile& library, DriverFacts facts) {
  Manifest m;
  m.name = std::move(facts.name);
  m.version = std::move(facts.version);
  m.vendor = std::move(facts.vendor);
  m.license = std::move(facts.license);
  m.runtime = std::move(facts.runtime);
  m.abi_major = HOSTLER_ABI_MAJOR;  // Others are not loaded.
  m.abi_draft = HOSTLER_ABI_DRAFT;
  m.min_host_minor = facts.min_host_minor;
  m.library = library.path.filename();
  m.sha256 = HOSTLER_TRY(sha256_of(library.fd, library.path));
  for (const auto& [name, fd] : library.own_files) {
    auto sha256 = HOSTLER_TRY(sha256_of(fd, name));
    m.files.push_back({name, std::move(sha256)});
  }
  m.arch = machine_name();
  m.os = "linux";
  m.extensions = std::move(facts.extensions);
  const auto schema =
      json::Document::parse(facts.config_schema_json.empty() ? "{}" : facts.config_schema_json);
  if (!schema) {
    auto error = schema.error();
    return tl::unexpected(std::move(error).with_context("driver library " + library.path.string() +
                                                        ": config schema"));
  }
  m.config_schema_json = json::to_text(schema->root());
  return m;
}

Result<Manifest> make_manifest(const std::filesystem::path& library,
                               const std::vector<std::filesystem::path>& files) {
  // They stay open: what was loaded from them may not be mistaken for another file (R50).
  static auto* const opened = new std::vector<LibraryFile>;
  opened->push_back(HOSTLER_TRY(open_untrusted_library(library, files)));
  const LibraryFile& file = opened->back();
  HOSTLER_TRY(load_libraries(file.own_files));
  const auto driver = HOSTLER_TRY(DriverLibrary::load_unpinned(library));
  const auto& table = driver->table();
  DriverFacts facts{.name = driver->name(),
                    .version = text(table.version),
                    .vendor = text(table.vendor),
                    .license = text(table.license),
                    .runtime = text(table.runtime),
                    .config_schema_json = {},
                    .min_host_minor = table.min_host_minor,
                    .extensions = {}};
  if (table.config_schema_json != nullptr) facts.config_schema_json = table.config_schema_json;
  try {
    for (const char* id : kKnownExtensions)
      if (table.get_extension(id) != nullptr) facts.extensions.emplace_back(id);
  } catch (...) {
    return fail(Errc::kMisbehaving,
                "driver library " + library.string() + ": R45: an exception left get_extension");
  }
  return make_manifest(file, std::move(facts));
}

Result<std::vector<std::string>> config_problems(const Manifest& manifest,
                                                 const std::string& config_json) {
  auto problems = json::schema_problems(manifest.config_schema_json, config_json);
  if (!problems)
    return tl::unexpected(std::move(problems).error().with_context(
        "the config cannot be checked against the schema of driver '" + manifest.name + "'"));
  return problems;
}

std::string to_json(const Manifest& m) {
  std::string out;
  json::Writer w(out);
  w.begin_object().member("manifest_version", kVersion).member("name", m.name);
  w.member("version", m.version).member("vendor", m.vendor).member("license", m.license);
  w.key("abi").begin_object().member("major", m.abi_major).member("draft", m.abi_draft);
  w.member("min_host_minor", m.min_host_minor).end_object();
  w.member("runtime", m.runtime);
  w.key("library").begin_object().member("path", m.library.string());
  w.member("sha256", m.sha256).member("arch", m.arch).member("os", m.os).end_object();
  if (!m.files.empty()) {
    w.key("files").begin_array();
    for (const auto& [name, sha256] : m.files)
      w.begin_object().member("name", name).member("sha256", sha256).end_object();
    w.end_array();
  }
  w.key("extensions").begin_array();
  for (const auto& id : m.extensions) w.value(id);
  w.end_array();
  if (m.sandbox != model::Sandbox::kFull) w.member("sandbox", to_string(m.sandbox));
  w.key("config_schema").raw(m.config_schema_json).end_object();
  return out + "\n";
}

Result<Manifest> parse_manifest(std::string_view text, const std::filesystem::path& file) {
  Manifest m;
  m.file = file;
  auto read = json::read_object(text, {.bytes_max = kManifestMax}, [&](json::Object& o) {
    o.tolerate_unknown(m.unknown_keys);  // A newer SDK may have written it.
    int version = 0;
    o.need("manifest_version").integer(version, kVersion, kVersion);
    o.need("name").name(m.name);
    o.need("version").text(m.version);
    o.may("vendor").text(m.vendor);
    o.may("license").text(m.license);
    o.may("runtime").text(m.runtime);
    o.need("abi").object([&](json::Object& abi) {
      abi.need("major").integer(m.abi_major, 0, 1'000'000);
      abi.need("draft").integer(m.abi_draft, 0, 1'000'000);
      abi.may("min_host_minor").integer(m.min_host_minor, 0, 1'000'000);
      abi.tolerate_unknown(m.unknown_keys);
    });
    o.need("library").object([&](json::Object& library) { read_library(library, m); });
    o.may("files").each(kOwnFilesMax, [&](const json::Field& own_file) {
      own_file.object([&](json::Object& own) {
        read_file_of(m, own);
        own.tolerate_unknown(m.unknown_keys);
      });
    });
    o.may("extensions").texts(m.extensions, 256);
    o.may("sandbox").word(m.sandbox, kSandboxes);
    o.may("config_schema").object_text(m.config_schema_json, kManifestMax);
  });
  if (!read) return tl::unexpected(std::move(read).error().with_context(file.string()));
  for (auto& key : m.unknown_keys) key = printable(key, 80);
  return m;
}

std::vector<std::filesystem::path> own_files_of(const std::filesystem::path& library) {
  auto path = library;
  const auto text = read_file(path.replace_extension(".json"), kManifestMax);
  const auto manifest = text ? parse_manifest(*text, path) : tl::unexpected(text.error());
  std::vector<std::filesystem::path> out;
  if (!manifest) return out;
  for (const auto& file : manifest->files) out.push_back(library.parent_path() / file.name);
  return out;
}

Result<Manifest> read_manifest(const std::filesystem::path& file, const DriverRules& rules) {
  const std::string text = HOSTLER_TRY(read_trusted_file(file, kManifestMax, rules.state_dir));
  std::string signed_by;
  if (rules.trusted.trust == model::DriverTrust::kSigned)
    signed_by = HOSTLER_TRY(signer_of(text, file, rules));
  Manifest manifest = HOSTLER_TRY(parse_manifest(text, file));
  manifest.own_sha256 = crypto::sha256_hex(text);
  manifest.signed_by = std::move(signed_by);
  if (rules.trusted.trust == model::DriverTrust::kPinned &&
      !rules.trusted.sha256.contains(manifest.name))
    return fail(Errc::kForbidden, file.string() +
                                      ": driver_trust of the configuration is "
                                      "\"pinned\", and driver_sha256 has no digest for "
                                      "driver '" +
                                      manifest.name + "'; it would be \"" + manifest.pinned_by() +
                                      "\"");
  return manifest;
}

}  // namespace hostler::plugin_host
