#pragma once

#include <string>
#include <vector>

namespace hostler::cli {

/// Formats aligned columns. Lines longer than `width` columns are cut; `width` 0: never.
std::string format_table(const std::vector<std::string>& head,
                         const std::vector<std::vector<std::string>>& rows, std::size_t width = 0);

/// Width of the terminal on standard output in columns; 0 if it is not a terminal.
std::size_t terminal_width();

}  // namespace hostler::cli
