#pragma once

#include <string>
#include <vector>

namespace hostler::cli {

/// Aligned columns for people. `width` 0: as wide as it gets; else the last column is cut to fit.
std::string format_table(const std::vector<std::string>& head,
                         const std::vector<std::vector<std::string>>& rows, std::size_t width = 0);

/// Columns of the terminal on standard output; 0 if it is none.
std::size_t terminal_width();

}  // namespace hostler::cli
