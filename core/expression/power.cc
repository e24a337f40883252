#include "core/expression/power.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>

// The order of the operations is that of Go 1.19 (src/math: pow.go, log_amd64.s, exp_amd64.s).
// CMakeLists.txt forbids the compiler to contract them.
namespace hostler::expression {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// Of a finite number above 0.
double go_log(double x) {
  constexpr double kLn2Hi = 6.93147180369123816490e-01, kLn2Lo = 1.90821492927058770002e-10;
  constexpr double kL1 = 6.666666666666735130e-01, kL2 = 3.999999999940941908e-01,
                   kL3 = 2.857142874366239149e-01, kL4 = 2.222219843214978396e-01,
                   kL5 = 1.818357216161805012e-01, kL6 = 1.531383769920937332e-01,
                   kL7 = 1.479819860511658591e-01, kHalfRoot = 7.07106781186547524401e-01;
  int exponent = 0;
  double fraction = std::frexp(x, &exponent);
  if (fraction < kHalfRoot) {
    fraction *= 2;
    --exponent;
  }
  const double f = fraction - 1, k = exponent;
  const double s = f / (2 + f), s2 = s * s, s4 = s2 * s2;
  const double t1 = s2 * (kL1 + s4 * (kL3 + s4 * (kL5 + s4 * kL7)));
  const double t2 = s4 * (kL2 + s4 * (kL4 + s4 * kL6));
  const double r = t1 + t2, half_square = 0.5 * f * f;
  return k * kLn2Hi - ((half_square - (s * (half_square + r) + k * kLn2Lo)) - f);
}

/// Of a number within 400 of 0: the logarithm of no number is further away.
double go_exp(double x) {
  constexpr double kLn2 = 0.69314718055966295651160180568695068359375,
                   kLn2Rest = 0.28235290563031577122588448175013436025525412068e-12,
                   kLog2E = 1.4426950408889634073599246810018920;
  const double exponent = std::nearbyint(kLog2E * x);
  double r = std::fma(-kLn2, exponent, x);
  r = std::fma(-kLn2Rest, exponent, r) * 0.0625;
  double t = 2.4801587301587301587e-5;
  for (const double next :
       {1.9841269841269841270e-4, 1.3888888888888888889e-3, 8.3333333333333333333e-3,
        4.1666666666666666667e-2, 1.6666666666666666667e-1, 0.5, 1.0})
    t = std::fma(t, r, next);
  r *= t;
  for (int i = 0; i < 3; ++i) r *= r + 2;
  r = std::fma(r, r + 2, 1.0);
  return std::ldexp(r, static_cast<int>(exponent));
}

bool is_odd(double x) {
  return std::fabs(x) < 0x1p53 && std::trunc(x) == x && std::fmod(x, 2) != 0;
}

double power_of_zero(double base, double exponent) {
  if (exponent < 0) return is_odd(exponent) ? std::copysign(kInfinite, base) : kInfinite;
  return is_odd(exponent) ? base : 0;
}

/// The results that need no computation.
std::optional<double> special(double base, double exponent) {
  if (exponent == 0 || base == 1) return 1;
  if (exponent == 1) return base;
  if (std::isnan(base) || std::isnan(exponent)) return kNaN;
  if (base == 0) return power_of_zero(base, exponent);
  if (std::isinf(exponent)) {
    if (base == -1) return 1;
    return (std::fabs(base) < 1) == (exponent > 0) ? 0 : kInfinite;
  }
  if (base == -kInfinite) return power_of_zero(-0.0, -exponent);
  if (base == kInfinite) return exponent < 0 ? 0 : kInfinite;
  if (exponent == 0.5) return std::sqrt(base);
  if (exponent == -0.5) return 1 / std::sqrt(base);
  return std::nullopt;
}

/// fraction * base ** times, by squares; the exponents of two apart, so that nothing overflows.
double times_power(double fraction, double base, std::int64_t times, bool inverse) {
  int base_exponent = 0, exponent = 0;
  double square = std::frexp(base, &base_exponent);
  for (; times != 0; times >>= 1) {
    if (base_exponent < -4096 || base_exponent > 4096) {
      exponent += base_exponent;
      break;
    }
    if ((times & 1) == 1) {
      fraction *= square;
      exponent += base_exponent;
    }
    square *= square;
    base_exponent *= 2;
    if (square < .5) {
      square += square;
      --base_exponent;
    }
  }
  return inverse ? std::ldexp(1 / fraction, -exponent) : std::ldexp(fraction, exponent);
}

}  // namespace

double power(double base, double exponent) {
  if (const auto known = special(base, exponent)) return *known;
  double whole = 0;
  double part = std::modf(std::fabs(exponent), &whole);
  if (part != 0 && base < 0) return kNaN;
  if (whole >= 0x1p63) {
    if (base == -1) return 1;
    return (std::fabs(base) < 1) == (exponent > 0) ? 0 : kInfinite;
  }
  double fraction = 1;
  if (part != 0) {
    if (part > 0.5) {
      part -= 1;
      whole += 1;
    }
    fraction = go_exp(part * go_log(base));
  }
  return times_power(fraction, base, static_cast<std::int64_t>(whole), exponent < 0);
}

}  // namespace hostler::expression
