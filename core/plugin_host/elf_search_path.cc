#include <elf.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "core/plugin_host/library_file.h"

namespace hostler::plugin_host {
namespace {

/// False: the file ends before.
template <class T>
bool read_at(const UniqueFd& file, std::uint64_t at, T& out) {
  return ::pread(file.get(), &out, sizeof out, static_cast<off_t>(at)) ==
         static_cast<ssize_t>(sizeof out);
}

/// The parts of the file that are of this type.
std::vector<Elf64_Phdr> parts_of(const UniqueFd& file, std::uint32_t type) {
  Elf64_Ehdr header{};
  std::vector<Elf64_Phdr> out;
  if (!read_at(file, 0, header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return out;
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr part{};
    if (!read_at(file, header.e_phoff + std::uint64_t{i} * header.e_phentsize, part)) break;
    if (part.p_type == type) out.push_back(part);
  }
  return out;
}

/// The values of one kind in the dynamic section.
std::vector<std::uint64_t> values_of(const UniqueFd& file, std::int64_t tag) {
  std::vector<std::uint64_t> out;
  for (const Elf64_Phdr& dynamic : parts_of(file, PT_DYNAMIC)) {
    Elf64_Dyn entry{};
    for (std::uint64_t at = 0; at + sizeof entry <= dynamic.p_filesz; at += sizeof entry) {
      if (!read_at(file, dynamic.p_offset + at, entry) || entry.d_tag == DT_NULL) break;
      if (entry.d_tag == tag) out.push_back(entry.d_un.d_val);
    }
  }
  return out;
}

/// Whether the text at this place of the string table is a path. The loader opens it as one then.
bool is_path(const UniqueFd& file, std::uint64_t table, std::uint64_t at) {
  std::array<char, 4096> text{};
  for (const Elf64_Phdr& part : parts_of(file, PT_LOAD)) {
    if (table < part.p_vaddr || table - part.p_vaddr >= part.p_filesz) continue;
    const std::uint64_t offset = part.p_offset + (table - part.p_vaddr) + at;
    if (::pread(file.get(), text.data(), text.size() - 1, static_cast<off_t>(offset)) <= 0) break;
    return std::string_view(text.data()).find('/') != std::string_view::npos;
  }
  return false;
}

}  // namespace

bool has_search_path(const UniqueFd& file) {
  if (!values_of(file, DT_RPATH).empty() || !values_of(file, DT_RUNPATH).empty()) return true;
  const auto tables = values_of(file, DT_STRTAB);
  if (tables.empty()) return false;
  for (const std::uint64_t needed : values_of(file, DT_NEEDED))
    if (is_path(file, tables[0], needed)) return true;
  return false;
}

}  // namespace hostler::plugin_host
