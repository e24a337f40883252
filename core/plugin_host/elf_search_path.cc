#include <elf.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>

#include "core/plugin_host/library_file.h"

namespace hostler::plugin_host {
namespace {

/// False: the file ends before.
template <class T>
bool read_at(const UniqueFd& file, std::uint64_t at, T& out) {
  return ::pread(file.get(), &out, sizeof out, static_cast<off_t>(at)) ==
         static_cast<ssize_t>(sizeof out);
}

bool has_search_path(const UniqueFd& file, const Elf64_Phdr& dynamic) {
  Elf64_Dyn entry{};
  for (std::uint64_t at = 0; at + sizeof entry <= dynamic.p_filesz; at += sizeof entry) {
    if (!read_at(file, dynamic.p_offset + at, entry) || entry.d_tag == DT_NULL) return false;
    if (entry.d_tag == DT_RPATH || entry.d_tag == DT_RUNPATH) return true;
  }
  return false;
}

}  // namespace

bool has_search_path(const UniqueFd& file) {
  Elf64_Ehdr header{};
  if (!read_at(file, 0, header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return false;
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr part{};
    if (!read_at(file, header.e_phoff + std::uint64_t{i} * header.e_phentsize, part)) return false;
    if (part.p_type == PT_DYNAMIC && has_search_path(file, part)) return true;
  }
  return false;
}

}  // namespace hostler::plugin_host
