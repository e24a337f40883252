#pragma once

#include <optional>
#include <string>
#include <utility>

namespace hostler::check {

/// The rule that a message of the host names, and what it says: {"R28", "returned OK ..."}. Nothing
/// if it names none.
std::optional<std::pair<std::string, std::string>> rule_in(const std::string& message);
/// The rule that a library breaks which cannot be loaded, by the host's message; R1 if that is
/// about none in particular.
std::string rule_of_load(const std::string& message);

}  // namespace hostler::check
