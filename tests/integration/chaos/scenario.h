#pragma once

#include <filesystem>
#include <string>

namespace hostler::chaos_table {

/// One run of one behaviour.
struct Scenario {
  std::string word;               ///< For the config; "load" in `call`: not used.
  std::string call;               ///< In which the driver misbehaves: "list".
  std::filesystem::path library;  ///< Only this user can change it.
  std::filesystem::path folder;   ///< For the pipe `gate` that ends what hangs.
};

/// Makes the calls, and says what the host answers and whether the set goes on. A second set beside
/// it, whose driver is well, is named only if it suffers.
std::string run(const Scenario& scenario);

}  // namespace hostler::chaos_table
