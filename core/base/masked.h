#pragma once

#include <string>
#include <vector>

namespace hostler {

/// What stands for a secret in a text that is kept or shown.
inline constexpr const char* kHidden = "***";

/// In the order in which masked() wants them: a secret that is a part of another comes after it.
/// With each secret that has control characters also as messages show it.
std::vector<std::string> longest_first(std::vector<std::string> secrets);
/// `text` with kHidden in place of each secret. None of these is empty.
std::string masked(std::string text, const std::vector<std::string>& secrets);

}  // namespace hostler
