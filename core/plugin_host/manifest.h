#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "core/model/driver_trust.h"
#include "core/model/sandbox.h"

namespace hostler::plugin_host {

/// What the site allows of drivers, beside the rules of core/base/trusted_file.h for their files.
struct DriverRules {
  std::filesystem::path state_dir = {};  ///< Nothing beneath it is loaded; empty: not known.
  model::TrustedDrivers trusted = {};
};

inline constexpr std::size_t kManifestMax = std::size_t{256} << 10U;  ///< Bytes of the file.

/// A file of a driver beside its library: a program that it starts, or a library that it needs.
struct NamedFile {
  std::string name;    ///< In the library's folder.
  std::string sha256;  ///< 64 hexadecimal digits.
  friend bool operator==(const NamedFile&, const NamedFile&) = default;
};

/// The description of a driver, readable without running any of its code: its members are those of
/// the file `<name>.hostler.json` beside its library, made by make_manifest().
struct Manifest {
  std::string name, version, vendor, license;
  std::string runtime;  ///< "c", "cpp", "rust", "go", ...
  std::uint32_t abi_major = 0, abi_draft = 0, min_host_minor = 0;
  std::filesystem::path library;  ///< As in the file: relative to it or absolute; see resolved().
  std::string sha256;             ///< Of the library, 64 hexadecimal digits.
  std::string arch, os;
  std::vector<NamedFile> files;
  std::vector<std::string> extensions;
  /// The sandbox that the author asks for, if less than full. The configuration decides.
  model::Sandbox sandbox = model::Sandbox::kFull;
  std::string config_schema_json = "{}";

  std::vector<std::string> unknown_keys;  ///< Paths of what this program does not know, printable.
  std::filesystem::path file;  ///< The manifest itself; empty if this was not read from a file.
  std::string own_sha256;      ///< Of the file's text; empty if this was not read from a file.
  std::string signed_by;       ///< The name of the key; empty: no signature was asked for.
  /// The library's path; absolute if the path of the manifest is.
  [[nodiscard]] std::filesystem::path resolved() const { return file.parent_path() / library; }
  /// What driver_sha256 of the configuration names: the library's digest, or the manifest's if the
  /// driver has files of its own, whose digests are in the manifest.
  [[nodiscard]] const std::string& pinned_by() const { return files.empty() ? sha256 : own_sha256; }
};

/// Loads the library, which runs its code, and describes it. `files`: its own, in the library's
/// folder. Blocking.
Result<Manifest> make_manifest(const std::filesystem::path& library,
                               const std::vector<std::filesystem::path>& files);
/// What is wrong with the `config` of a set of this driver, as far as the driver's schema says; one
/// line each. An error: the schema cannot tell.
Result<std::vector<std::string>> config_problems(const Manifest& manifest,
                                                 const std::string& config_json);
/// The driver's own files, as the manifest beside the library names them. None: there is no such
/// manifest. Blocks on it.
std::vector<std::filesystem::path> own_files_of(const std::filesystem::path& library);
/// The text of a manifest file.
std::string to_json(const Manifest& manifest);
/// Reads the text of the manifest `file`. Errors name the file and the place in it.
Result<Manifest> parse_manifest(std::string_view text, const std::filesystem::path& file);
/// Reads a manifest file, which must be one that only root and this user can change, and not lie
/// beneath the state folder. Blocks on the file.
Result<Manifest> read_manifest(const std::filesystem::path& file, const DriverRules& rules = {});

}  // namespace hostler::plugin_host
