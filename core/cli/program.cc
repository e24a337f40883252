#include "core/cli/program.h"

namespace hostler::cli {

std::filesystem::path program_folder() {
  std::error_code problem;
  return std::filesystem::read_symlink("/proc/self/exe", problem).parent_path();
}

}  // namespace hostler::cli
