#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"

namespace hostler::elf {

/// What a shared library or a program says of itself, without running it.
struct ElfFacts {
  std::vector<std::string> exports;   ///< Names of the symbols that others can use.
  std::vector<std::string> needed;    ///< Libraries that the loader loads with it.
  std::vector<std::string> versions;  ///< Of symbols of these libraries: "GLIBC_2.34".
  std::string runpath;                ///< RUNPATH or RPATH; empty: none.
  std::size_t unique_symbols = 0;     ///< STB_GNU_UNIQUE: they keep a library loaded.
  std::size_t tls_bytes = 0;
  std::size_t constructors = 0;  ///< Functions that run when it is loaded.
  bool has_static_tls = false, has_text_relocations = false, has_executable_stack = false;
  bool binds_now = false, has_build_id = false;
  /// It says itself where the loader finds the libraries that it needs: by folders, or by a path in
  /// place of a name.
  bool has_search_path = false;
};

/// Whether the bytes begin as those of an ELF file.
bool is_elf(std::string_view bytes);

/// Reads the file's bytes, whatever they are: each offset and each length is checked, each walk
/// ends with its table. An error says what is damaged. What the loader goes by is read as it reads
/// it: from the segments, which say the truth also where sections are missing.
Result<ElfFacts> read_elf(std::string_view bytes);

/// The minor of the newest "GLIBC_2.N" among the versions; 0: there is none.
int newest_glibc(const std::vector<std::string>& versions);

}  // namespace hostler::elf
