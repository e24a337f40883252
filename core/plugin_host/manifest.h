#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"

namespace hostler::plugin_host {

/// The description of a driver, readable without running any of its code: the file
/// `<name>.hostler.json` beside its library, made by make_manifest().
struct Manifest {
  std::string name, version, vendor, license;
  std::string runtime;  ///< "c", "cpp", "rust", "go", ...
  std::uint32_t abi_major = 0, abi_draft = 0, min_host_minor = 0;
  std::filesystem::path library;  ///< As in the file: relative to it or absolute; see resolved().
  std::string sha256;             ///< Of the library, 64 hexadecimal digits.
  std::string arch, os;
  std::vector<std::string> extensions;
  std::string config_schema_json = "{}";

  std::filesystem::path file;  ///< The manifest itself; empty if this was not read from a file.
  /// The library's path; absolute if the path of the manifest is.
  [[nodiscard]] std::filesystem::path resolved() const { return file.parent_path() / library; }
};

/// Loads the library, which runs its code, and describes it. Blocking.
Result<Manifest> make_manifest(const std::filesystem::path& library);
/// The text of a manifest file.
std::string to_json(const Manifest& manifest);
/// Reads a manifest file. Errors name the file and the place in it. Blocks on the file.
Result<Manifest> read_manifest(const std::filesystem::path& file);

}  // namespace hostler::plugin_host
