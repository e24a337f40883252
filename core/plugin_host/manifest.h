#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"

namespace hostler::plugin_host {

/// What is known of a driver without running any of its code: a `<name>.hostler.json` beside its
/// library, made by make_manifest().
struct Manifest {
  std::string name, version, vendor, license;
  std::string runtime;  ///< "c", "cpp", "rust", "go", ...
  std::uint32_t abi_major = 0, abi_draft = 0, min_host_minor = 0;
  std::filesystem::path library;  ///< As written, relative to the manifest; resolved() once found.
  std::string sha256;             ///< Of the library, 64 hexadecimal digits.
  std::string arch, os;
  std::vector<std::string> extensions;
  std::string config_schema_json = "{}";

  std::filesystem::path file;  ///< The manifest itself; empty if it was not read from one.
  /// The library's path, absolute if the manifest's is.
  [[nodiscard]] std::filesystem::path resolved() const { return file.parent_path() / library; }
};

/// Loads the library (its constructors run) and describes it. Blocking.
Result<Manifest> make_manifest(const std::filesystem::path& library);
/// The manifest as JSON text, for people and for read_manifest().
std::string to_json(const Manifest& manifest);
/// Reads one; errors name the file and the place in it.
Result<Manifest> read_manifest(const std::filesystem::path& file);

}  // namespace hostler::plugin_host
