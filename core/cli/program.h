#pragma once

#include <filesystem>

namespace hostler::cli {

/// The folder of this program, in which hostlerd is as well.
std::filesystem::path program_folder();

}  // namespace hostler::cli
