#include "core/cli/table.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>

namespace hostler::cli {

std::string format_table(const std::vector<std::string>& head,
                         const std::vector<std::vector<std::string>>& rows, std::size_t width) {
  std::vector<std::size_t> widths(head.size());
  const auto measure = [&](const std::vector<std::string>& row) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  };
  measure(head);
  for (const auto& row : rows) measure(row);
  std::string out;
  const auto add = [&](const std::vector<std::string>& row) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      line += row[i];
      if (i + 1 < row.size()) line.append(widths[i] - row[i].size() + 2, ' ');
    }
    if (width > 0 && line.size() > width) line.resize(width);
    while (line.ends_with(' ')) line.pop_back();
    out += line + '\n';
  };
  add(head);
  for (const auto& row : rows) add(row);
  return out;
}

std::size_t terminal_width() {
  winsize size{};
  if (::isatty(STDOUT_FILENO) == 0 || ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0) return 0;
  return size.ws_col;
}

}  // namespace hostler::cli
