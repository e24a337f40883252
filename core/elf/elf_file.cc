#include "core/elf/elf_file.h"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "core/base/text.h"

namespace hostler::elf {
namespace {

constexpr std::size_t kListMax = 10'000;  ///< Names that are kept of each kind.
constexpr std::size_t kLibrariesMax = 100;

/// Access to the bytes of a file that may be damaged.
class Bytes {
 public:
  explicit Bytes(std::string_view all) : all_(all) {}

  [[nodiscard]] std::size_t size() const { return all_.size(); }
  /// The part that begins at `at`; empty where it would not lie in the file.
  [[nodiscard]] std::string_view part(std::uint64_t at, std::uint64_t size) const {
    if (at > all_.size() || size > all_.size() - at) return {};
    return all_.substr(at, size);
  }
  template <class T>
  [[nodiscard]] std::optional<T> read(std::uint64_t at) const {
    const auto bytes = part(at, sizeof(T));
    if (bytes.size() != sizeof(T)) return std::nullopt;
    T out;
    std::memcpy(&out, bytes.data(), sizeof out);
    return out;
  }
  /// The text up to its NUL.
  [[nodiscard]] std::string text(std::uint64_t at) const {
    if (at >= all_.size()) return {};
    return std::string(all_.substr(at, all_.find('\0', at) - at));
  }

 private:
  std::string_view all_;
};

/// Calls `visit` with each T of a table, and stops where the table or the file ends.
template <class T, class Visit>
void each(const Bytes& table, const Visit& visit) {
  for (std::uint64_t at = 0; at + sizeof(T) <= table.size(); at += sizeof(T))
    visit(*table.read<T>(at));
}

void keep(std::vector<std::string>& list, std::string name) {
  if (list.size() < kListMax && !name.empty()) list.push_back(printable(name, 200));
}

void read_symbols(const Bytes& symbols, const Bytes& names, ElfFacts& out) {
  each<Elf64_Sym>(symbols, [&](const Elf64_Sym& symbol) {
    const auto binding = ELF64_ST_BIND(symbol.st_info);
    const auto visibility = ELF64_ST_VISIBILITY(symbol.st_other);
    if (symbol.st_shndx == SHN_UNDEF || binding == STB_LOCAL || visibility == STV_HIDDEN) return;
    if (binding == STB_GNU_UNIQUE) ++out.unique_symbols;
    if (symbol.st_shndx != SHN_ABS) keep(out.exports, names.text(symbol.st_name));
  });
}

void read_entry(const Elf64_Dyn& entry, const Bytes& names, ElfFacts& out) {
  const auto value = entry.d_un.d_val;
  switch (entry.d_tag) {
    case DT_NEEDED:
      out.has_search_path |= names.text(value).find('/') != std::string::npos;
      return keep(out.needed, names.text(value));
    case DT_RPATH:
    case DT_RUNPATH:
      out.has_search_path = true;
      out.runpath = printable(names.text(value), 200);
      return;
    case DT_TEXTREL:
      out.has_text_relocations = true;
      return;
    case DT_BIND_NOW:
      out.binds_now = true;
      return;
    case DT_FLAGS:
      out.binds_now |= (value & DF_BIND_NOW) != 0;
      out.has_text_relocations |= (value & DF_TEXTREL) != 0;
      out.has_static_tls = (value & DF_STATIC_TLS) != 0;
      return;
    case DT_FLAGS_1:
      out.binds_now |= (value & DF_1_NOW) != 0;
      return;
    default:
      return;
  }
}

/// The versions of one library. Each link leads forward, so the walk ends with the section.
void read_versions_of(const Bytes& section, std::uint64_t at, const Bytes& names, ElfFacts& out) {
  while (const auto version = section.read<Elf64_Vernaux>(at)) {
    keep(out.versions, names.text(version->vna_name));
    if (version->vna_next == 0 || out.versions.size() == kListMax) return;
    at += version->vna_next;
  }
}

void read_versions(const Bytes& section, const Bytes& names, ElfFacts& out) {
  std::uint64_t at = 0;
  // Lists of several libraries may lie on one another: then there are no more than these.
  std::size_t libraries = 0;
  while (const auto library = section.read<Elf64_Verneed>(at)) {
    read_versions_of(section, at + library->vn_aux, names, out);
    if (library->vn_next == 0 || ++libraries == kLibrariesMax) return;
    at += library->vn_next;
  }
}

void read_section(const Bytes& file, const Elf64_Shdr& header, const Elf64_Shdr* linked,
                  ElfFacts& out) {
  const Bytes content(file.part(header.sh_offset, header.sh_size));
  const Bytes names(linked == nullptr ? std::string_view()
                                      : file.part(linked->sh_offset, linked->sh_size));
  switch (header.sh_type) {
    case SHT_DYNSYM:
      return read_symbols(content, names, out);
    case SHT_GNU_verneed:
      return read_versions(content, names, out);
    case SHT_INIT_ARRAY:
      out.constructors += content.size() / sizeof(std::uint64_t);
      return;
    default:
      return;
  }
}

void read_segment(const Bytes& file, const Elf64_Phdr& segment, ElfFacts& out) {
  if (segment.p_type == PT_TLS) out.tls_bytes = segment.p_memsz;
  if (segment.p_type == PT_GNU_STACK) out.has_executable_stack = (segment.p_flags & PF_X) != 0;
  if (segment.p_type != PT_NOTE) return;
  const auto note = file.read<Elf64_Nhdr>(segment.p_offset);
  if (note && note->n_type == NT_GNU_BUILD_ID) out.has_build_id = true;
}

Error damaged(const char* problem) {
  return {Errc::kInvalidArgument, std::string("damaged: ") + problem};
}

/// A table of the file's header.
template <class T>
Result<std::vector<T>> table_of(const Bytes& file, std::uint64_t at, std::size_t count,
                                std::size_t entry_size) {
  std::vector<T> out;
  if (count == 0) return out;
  if (entry_size != sizeof(T))
    return tl::unexpected(damaged("its tables have entries of an unknown size"));
  const auto table = file.part(at, count * sizeof(T));
  if (table.empty()) return tl::unexpected(damaged("its tables do not lie in the file"));
  each<T>(Bytes(table), [&](const T& entry) { out.push_back(entry); });
  return out;
}

using Segments = std::vector<Elf64_Phdr>;

/// What is loaded at this address, to the end of its segment.
Bytes loaded_at(const Bytes& file, const Segments& segments, std::uint64_t address) {
  for (const auto& segment : segments) {
    const std::uint64_t skipped = address - segment.p_vaddr;
    if (segment.p_type == PT_LOAD && address >= segment.p_vaddr && skipped < segment.p_filesz)
      return Bytes(file.part(segment.p_offset + skipped, segment.p_filesz - skipped));
  }
  return Bytes({});
}

Result<void> read_dynamic(const Bytes& file, const Segments& segments, const Elf64_Phdr& dynamic,
                          ElfFacts& out) {
  std::vector<Elf64_Dyn> entries;
  std::uint64_t names_at = 0;
  const Bytes table(file.part(dynamic.p_offset, dynamic.p_filesz));
  for (std::uint64_t at = 0; const auto entry = table.read<Elf64_Dyn>(at); at += sizeof *entry) {
    if (entry->d_tag == DT_NULL) break;
    if (entry->d_tag == DT_STRTAB) names_at = entry->d_un.d_ptr;
    entries.push_back(*entry);
  }
  const Bytes names = loaded_at(file, segments, names_at);
  if (!entries.empty() && names.size() == 0)
    return tl::unexpected(damaged("the names of its libraries are not in what is loaded"));
  for (const auto& entry : entries) read_entry(entry, names, out);
  return {};
}

Result<void> read_segments(const Bytes& file, const Segments& segments, ElfFacts& out) {
  for (const auto& segment : segments) {
    const bool is_used = segment.p_type == PT_LOAD || segment.p_type == PT_DYNAMIC;
    if (is_used && file.part(segment.p_offset, segment.p_filesz).size() != segment.p_filesz)
      return tl::unexpected(damaged("its segments do not lie in the file"));
    if (segment.p_type == PT_DYNAMIC) HOSTLER_TRY(read_dynamic(file, segments, segment, out));
    read_segment(file, segment, out);
  }
  return {};
}

}  // namespace

bool is_elf(std::string_view bytes) { return bytes.substr(0, SELFMAG) == ELFMAG; }

Result<ElfFacts> read_elf(std::string_view bytes) {
  const Bytes file(bytes);
  const auto header = file.read<Elf64_Ehdr>(0);
  if (!header || !is_elf(bytes) || header->e_ident[EI_CLASS] != ELFCLASS64)
    return fail(Errc::kInvalidArgument, "not an ELF file of 64 bits");
  const auto sections = HOSTLER_TRY(
      table_of<Elf64_Shdr>(file, header->e_shoff, header->e_shnum, header->e_shentsize));
  const auto segments = HOSTLER_TRY(
      table_of<Elf64_Phdr>(file, header->e_phoff, header->e_phnum, header->e_phentsize));
  ElfFacts out;
  for (const auto& section : sections)
    read_section(file, section,
                 section.sh_link < sections.size() ? &sections[section.sh_link] : nullptr, out);
  HOSTLER_TRY(read_segments(file, segments, out));
  return out;
}

int newest_glibc(const std::vector<std::string>& versions) {
  constexpr std::string_view kPrefix = "GLIBC_2.";
  std::uint64_t newest = 0;
  for (const auto& version : versions) {
    if (version.compare(0, kPrefix.size(), kPrefix) != 0) continue;
    const std::string_view minor = std::string_view(version).substr(kPrefix.size());
    newest = std::max(newest, parse_u64(minor.substr(0, minor.find('.'))).value_or(0));
  }
  return static_cast<int>(std::min<std::uint64_t>(newest, 1'000'000));
}

}  // namespace hostler::elf
