#pragma once

#include <string>
#include <string_view>

namespace hostler::expression {

/// As expr shows an error:
///     unknown name foo (1:5)
///      | 1 + foo
///      | ....^
/// `at`: the byte of `text` that the caret points to. A long line is cut to the part around it.
std::string with_caret(std::string_view message, std::string_view text, std::size_t at);

}  // namespace hostler::expression
