#include "core/base/tar.h"

#include <algorithm>
#include <cstdio>
#include <numeric>

#include "core/base/assert.h"
#include "core/base/text.h"

namespace hostler::tar {
namespace {

// Where the fields of a header begin, and how long they are.
constexpr std::size_t kMode = 100, kSize = 124, kSizeLength = 12, kTime = 136, kSum = 148,
                      kSumLength = 8, kType = 156, kMagic = 257;
constexpr std::uint64_t kOctalMax = (std::uint64_t{1} << 33U) - 1;

/// Of the header with blanks in place of the sum.
unsigned sum_of(std::string block) {
  block.replace(kSum, kSumLength, kSumLength, ' ');
  return std::accumulate(block.begin(), block.end(), 0U, [](unsigned sum, char byte) {
    return sum + static_cast<unsigned char>(byte);
  });
}

std::optional<std::uint64_t> octal(std::string_view field) {
  const auto end = field.find_first_of(std::string_view("\0 ", 2));
  field = field.substr(0, end);
  if (field.empty() || field.size() > 11) return std::nullopt;
  std::uint64_t out = 0;
  for (const char digit : field) {
    if (digit < '0' || digit > '7') return std::nullopt;
    out = out * 8 + static_cast<std::uint64_t>(digit - '0');
  }
  return out;
}

std::optional<std::uint64_t> size_in(std::string_view field) {
  if (field[0] != '\x80') return octal(field);
  std::uint64_t out = 0;
  for (const char byte : field.substr(4)) out = out << 8U | static_cast<unsigned char>(byte);
  const bool fits = field.substr(1, 3) == std::string_view("\0\0\0", 3) && out <= INT64_MAX;
  return fits ? std::optional(out) : std::nullopt;
}

}  // namespace

std::string header(const Entry& entry) {
  HOSTLER_ASSERT(entry.name.size() <= kNameMax, "the name fits into a header");
  std::string block(kBlock, '\0');
  block.replace(0, entry.name.size(), entry.name);
  block.replace(kMode, 24,
                std::string("0000600\0"
                            "0000000\0"
                            "0000000\0",
                            24));
  if (entry.size <= kOctalMax) {
    char digits[kSizeLength + 1];
    std::snprintf(digits, sizeof digits, "%011llo", static_cast<unsigned long long>(entry.size));
    block.replace(kSize, kSizeLength - 1, digits, kSizeLength - 1);
  } else {
    block[kSize] = '\x80';
    for (std::size_t i = 0; i < 8; ++i)
      block[kSize + kSizeLength - 1 - i] = static_cast<char>(entry.size >> (8 * i) & 0xffU);
  }
  block.replace(kTime, 11, "00000000000");
  block[kType] = '0';
  block.replace(kMagic, 8,
                std::string("ustar\0"
                            "00",
                            8));
  char sum[kSumLength];
  std::snprintf(sum, sizeof sum, "%06o", sum_of(block));
  block.replace(kSum, kSumLength, std::string(sum, 7) + ' ');
  return block;
}

Result<std::optional<Entry>> parse_header(std::string_view block) {
  const auto bad = [](const char* what) {
    return fail(Errc::kMisbehaving, std::string("the archive is damaged: ") + what);
  };
  if (block.size() != kBlock) return bad("a header is cut");
  if (std::all_of(block.begin(), block.end(), [](char byte) { return byte == '\0'; }))
    return std::optional<Entry>();
  const auto sum = octal(block.substr(kSum, kSumLength));
  if (!sum || *sum != sum_of(std::string(block))) return bad("the sum of a header is wrong");
  if (block[kType] != '0') return bad("an entry is no regular file");
  Entry entry;
  entry.name = std::string(block.substr(0, std::min(block.find('\0'), kNameMax)));
  const auto size = size_in(block.substr(kSize, kSizeLength));
  if (!size) return bad("a size is no number");
  entry.size = *size;
  return std::optional(std::move(entry));
}

}  // namespace hostler::tar
