#pragma once

#include <string>
#include <vector>

/// The conformance kit, driver-check of the package hostler-sdk.
namespace hostler::cli {

/// Runs the kit with these arguments in place of this program. Returns only if that fails.
int run_kit(std::vector<std::string> arguments);

}  // namespace hostler::cli
