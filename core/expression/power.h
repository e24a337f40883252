#pragma once

namespace hostler::expression {

/// Go's math.Pow on amd64 with FMA, to the last bit: pow() of the C library rounds otherwise, and
/// `ceil(x ** 0.3)` would be another number.
double power(double base, double exponent);

}  // namespace hostler::expression
