#include <elf.h>
#include <gmock/gmock.h>

#include <cstring>

#include "core/base/files.h"
#include "core/base/random.h"
#include "sdk/check/elf/elf_file.h"

namespace hostler::check {
namespace {

std::string library() { return read_file(LIBRARY, std::size_t{64} << 20U).value(); }

/// A file of one section of this type, with its names in a second one.
std::string file_of(std::uint32_t type, const std::string& content, const std::string& names) {
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_phentsize = sizeof(Elf64_Phdr);
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
  const auto bytes = [](const auto& value) {
    return std::string(reinterpret_cast<const char*>(&value), sizeof value);
  };
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
    const std::string content(reinterpret_cast<const char*>(&one), sizeof one);
    (void)read_elf(file_of(SHT_GNU_verneed, content + content + content, std::string("\0a\0", 3)));
  }
}

TEST(ElfTest, LimitsWhatItKeeps) {
  Elf64_Sym symbol{};
  symbol.st_name = 1;
  symbol.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);
  symbol.st_shndx = 1;
  std::string symbols;
  for (int i = 0; i < 20'000; ++i)
    symbols.append(reinterpret_cast<const char*>(&symbol), sizeof symbol);

  const auto facts = read_elf(file_of(SHT_DYNSYM, symbols, std::string("\0name\0", 6)));

  ASSERT_TRUE(facts);
  EXPECT_EQ(facts->exports.size(), 10'000U);
}

TEST(ElfTest, FindsTheNewestLibc) {
  EXPECT_EQ(newest_glibc({"GLIBC_2.2.5", "GLIBC_2.34", "GLIBCXX_3.4.99", "GLIBC_2.9"}), 34);
  EXPECT_EQ(newest_glibc({"GLIBC_PRIVATE", "GLIBC_2.x"}), 0);
}

}  // namespace
}  // namespace hostler::check
