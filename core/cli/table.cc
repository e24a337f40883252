#include "core/cli/table.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>

#include "core/base/text.h"

namespace hostler::cli {
namespace {

constexpr std::size_t kCellMax = 4096;

/// Cells contain names that others chose: replaces control characters.
std::vector<std::string> shown(const std::vector<std::string>& row) {
  std::vector<std::string> out;
  out.reserve(row.size());
  for (const auto& cell : row) out.push_back(printable(cell, kCellMax));
  return out;
}

/// Number of characters of well-formed UTF-8. Each counts as one column.
std::size_t columns(const std::string& text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (c & 0xc0) != 0x80; }));
}

void cut(std::string& line, std::size_t width) {
  std::size_t end = 0;
  for (; end < line.size() && width > 0; --width) end += utf8_length(line.substr(end, 4));
  line.resize(end);
}

}  // namespace

std::string format_table(const std::vector<std::string>& head,
                         const std::vector<std::vector<std::string>>& rows, std::size_t width) {
  std::vector<std::vector<std::string>> lines{head};
  for (const auto& row : rows) lines.push_back(shown(row));
  std::vector<std::size_t> widths(head.size());
  for (const auto& row : lines)
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], columns(row[i]));
  std::string out;
  for (const auto& row : lines) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      line += row[i];
      if (i + 1 < row.size()) line.append(widths[i] - columns(row[i]) + 2, ' ');
    }
    if (width > 0 && columns(line) > width) cut(line, width);
    while (line.ends_with(' ')) line.pop_back();
    out += line + '\n';
  }
  return out;
}

std::size_t terminal_width() {
  winsize size{};
  if (::isatty(STDOUT_FILENO) == 0 || ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0) return 0;
  return size.ws_col;
}

}  // namespace hostler::cli
