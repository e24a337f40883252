#include "core/expression/number.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <string>

namespace hostler::expression {
namespace {

std::optional<Value> read_whole(std::string_view digits, int base) {
  std::int64_t whole = 0;
  const char* const end = digits.data() + digits.size();
  const auto [rest, problem] = std::from_chars(digits.data(), end, whole, base);
  if (problem != std::errc() || rest != end) return std::nullopt;
  return of_int(whole);
}

std::optional<Value> read_float(const std::string& digits) {
  double number = 0;
  const char* const end = digits.data() + digits.size();
  const auto [rest, problem] = std::from_chars(digits.data(), end, number);
  if (rest != end) return std::nullopt;
  if (problem == std::errc()) return of_float(number);
  // Too large, which is an error, or so small that it is 0.
  number = std::strtod(digits.c_str(), nullptr);
  if (!std::isfinite(number)) return std::nullopt;
  return of_float(number);
}

}  // namespace

std::optional<Value> read_number(std::string_view token) {
  std::string digits(token);
  std::erase(digits, '_');
  const std::string_view view = digits;
  const char base = view.size() > 1 && view[0] == '0' ? view[1] : '\0';
  if (base == 'x' || base == 'X') return read_whole(view.substr(2), 16);
  if (view.find_first_of(".eE") != std::string_view::npos) return read_float(digits);
  if (base == 'b' || base == 'B') return read_whole(view.substr(2), 2);
  if (base == 'o' || base == 'O') return read_whole(view.substr(2), 8);
  return read_whole(view, 10);
}

}  // namespace hostler::expression
