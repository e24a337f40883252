#pragma once

#include <hostler/driver.h>

#include <cstdint>
#include <string_view>
#include <vector>

namespace hostler::ec2 {

/// What an error of Amazon's means to hostler.
struct Meaning {
  std::string_view code;  ///< A `*` stands for any text.
  hostler_status status;
  std::uint32_t scope = 0;      ///< HOSTLER_SCOPE_*
  std::string_view words = {};  ///< The text must have them, in lower case.
};

/// All of them. The table of errors in README.md says the same for people; a test compares them.
std::vector<Meaning> all_meanings();

/// The first that fits; null: the code is not known.
const Meaning* find_meaning(std::string_view code, std::string_view text);

}  // namespace hostler::ec2
