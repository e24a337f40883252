#include <elf.h>
#include <gmock/gmock.h>

#include <cstring>

#include "core/base/files.h"
#include "core/base/random.h"
#include "core/elf/elf_file.h"

namespace hostler::elf {
namespace {

std::string library() { return read_file(LIBRARY, std::size_t{64} << 20U).value(); }

template <class T>
std::string bytes(const T& value) {
  return std::string(reinterpret_cast<const char*>(&value), sizeof value);
}

Elf64_Ehdr header_of_elf() {
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_phentsize = sizeof(Elf64_Phdr);
  return header;
}

/// A file without sections that is loaded from its begin, with one entry for the loader beside that
/// of the names.
std::string loaded_file(std::int64_t tag, std::uint64_t value, const std::string& names) {
  Elf64_Ehdr header = header_of_elf();
  header.e_phoff = sizeof header;
  header.e_phnum = 2;
  Elf64_Phdr segments[2]{};
  Elf64_Dyn entries[3]{};
  const std::size_t entries_at = sizeof header + sizeof segments;
  segments[0].p_type = PT_LOAD;
  segments[0].p_filesz = entries_at + sizeof entries + names.size();
  segments[1].p_type = PT_DYNAMIC;
  segments[1].p_offset = entries_at;
  segments[1].p_filesz = sizeof entries;
  entries[0].d_tag = tag;
  entries[0].d_un.d_val = value;
  entries[1].d_tag = DT_STRTAB;
  entries[1].d_un.d_ptr = entries_at + sizeof entries;
  return bytes(header) + bytes(segments) + bytes(entries) + names;
}

/// A file of one section of this type, with its names in a second one.
std::string file_of(std::uint32_t type, const std::string& content, const std::string& names) {
  Elf64_Ehdr header = header_of_elf();
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = 2;
  header.e_phnum = 1;
  header.e_phoff = sizeof header;
  header.e_shoff = header.e_phoff + sizeof(Elf64_Phdr);
  Elf64_Phdr segment{};
  Elf64_Shdr sections[2]{};
  sections[0].sh_type = type;
  sections[0].sh_link = 1;
  sections[0].sh_offset = header.e_shoff + sizeof sections;
  sections[0].sh_size = content.size();
  sections[1].sh_type = SHT_STRTAB;
  sections[1].sh_offset = sections[0].sh_offset + content.size();
  sections[1].sh_size = names.size();
  return bytes(header) + bytes(segment) + bytes(sections) + content + names;
}

TEST(ElfTest, ReadsADriver) {
  const auto facts = read_elf(library());

  ASSERT_TRUE(facts);
  EXPECT_THAT(facts->exports, testing::ElementsAre("hostler_driver_entry_1"));
  EXPECT_THAT(facts->needed, testing::Contains("libc.so.6"));
  EXPECT_GT(newest_glibc(facts->versions), 0);
  EXPECT_TRUE(facts->binds_now);
  EXPECT_FALSE(facts->has_executable_stack);
}

TEST(ElfTest, RefusesWhatIsNoLibrary) {
  for (const std::string& bytes : {std::string(), std::string("#!/bin/sh"), std::string(4096, '\0'),
                                   std::string(ELFMAG) + std::string(60, '\xff')})
    EXPECT_FALSE(read_elf(bytes));
}

TEST(ElfTest, ReadsWhatTheLoaderReadsWhereSectionsAreMissing) {
  const std::string names("libown.so\0/opt/libown.so", 24);  // the last one has no end
  const auto facts_of = [&](std::int64_t tag, std::uint64_t value) {
    return read_elf(loaded_file(tag, value, names)).value();
  };

  EXPECT_THAT(facts_of(DT_NEEDED, 0).needed, testing::ElementsAre("libown.so"));
  EXPECT_FALSE(facts_of(DT_NEEDED, 0).has_search_path);
  EXPECT_TRUE(facts_of(DT_NEEDED, 10).has_search_path);
  EXPECT_TRUE(facts_of(DT_RPATH, 10).has_search_path);
  EXPECT_EQ(facts_of(DT_RUNPATH, 10).runpath, "/opt/libown.so");
}

TEST(ElfTest, RefusesAFileWhoseNamesTheLoaderWouldFindAndThisReaderDoesNot) {
  const std::string whole = loaded_file(DT_NEEDED, 0, "/opt/libown.so");

  EXPECT_FALSE(read_elf(whole.substr(0, whole.size() - 1)));  // ends before its segment does
  EXPECT_FALSE(read_elf(loaded_file(DT_NEEDED, 0, "")));      // no byte of its names
}

TEST(ElfTest, EndsOnEveryPrefixOfALibrary) {
  const std::string whole = library();
  for (std::size_t size = 0; size < whole.size(); size += 1 + size / 8)
    (void)read_elf(std::string_view(whole).substr(0, size));
}

TEST(ElfTest, EndsOnDamagedBytes) {
  const std::string whole = library();
  Random random(20);
  for (int round = 0; round < 300; ++round) {
    std::string damaged = whole;
    // Half of the damage is in the header and at the end, where the tables are.
    const std::size_t area = round % 2 == 0 ? 64 : damaged.size();
    for (int i = 0; i < 8; ++i) {
      const std::size_t at = random.below(area);
      const std::size_t from = round % 4 == 1 ? damaged.size() - 1 - at % 4096 : at;
      damaged[from] = static_cast<char>(random.next());
    }
    (void)read_elf(damaged);
  }
}

TEST(ElfTest, EndsOnVersionsThatLeadToThemselves) {
  Elf64_Verneed library{};
  library.vn_aux = 0;   // its list is itself
  library.vn_next = 0;  // the end
  Elf64_Verneed cycle{};
  cycle.vn_aux = 0xfffffff0U;
  cycle.vn_next = 0xfffffff0U;  // beyond the section
  for (const auto& one : {library, cycle}) {
    const std::string content = bytes(one) + bytes(one) + bytes(one);
    (void)read_elf(file_of(SHT_GNU_verneed, content, std::string("\0a\0", 3)));
  }
}

TEST(ElfTest, LimitsWhatItKeeps) {
  Elf64_Sym symbol{};
  symbol.st_name = 1;
  symbol.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);
  symbol.st_shndx = 1;
  std::string symbols;
  for (int i = 0; i < 20'000; ++i) symbols += bytes(symbol);

  const auto facts = read_elf(file_of(SHT_DYNSYM, symbols, std::string("\0name\0", 6)));

  ASSERT_TRUE(facts);
  EXPECT_EQ(facts->exports.size(), 10'000U);
}

TEST(ElfTest, FindsTheNewestLibc) {
  EXPECT_EQ(newest_glibc({"GLIBC_2.2.5", "GLIBC_2.34", "GLIBCXX_3.4.99", "GLIBC_2.9"}), 34);
  EXPECT_EQ(newest_glibc({"GLIBC_PRIVATE", "GLIBC_2.x"}), 0);
}

}  // namespace
}  // namespace hostler::elf
