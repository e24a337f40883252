#pragma once

#include <string>

namespace hostler::dispatch {

/// The shortest text that reads as the same number: "42", "0.1", "nan".
[[nodiscard]] std::string number_text(double value);

}  // namespace hostler::dispatch
