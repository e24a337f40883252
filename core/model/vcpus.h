#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/error.h"

namespace hostler::model {

/// An amount of vcpus, exact in thousandths. A plain number stands for whole vcpus. Hosts have
/// whole vcpus; work may need any number of thousandths, also none.
class Vcpus {
 public:
  constexpr Vcpus() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): 2 means 2 vcpus wherever an amount is written.
  constexpr Vcpus(std::int32_t whole) : thousandths_(std::int64_t{whole} * 1000) {}
  static constexpr Vcpus of_thousandths(std::int64_t thousandths) {
    Vcpus out;
    out.thousandths_ = thousandths;
    return out;
  }

  [[nodiscard]] constexpr std::int64_t thousandths() const { return thousandths_; }
  explicit constexpr operator double() const { return static_cast<double>(thousandths_) / 1000; }
  /// Without the part of one that is left.
  [[nodiscard]] constexpr std::int64_t whole() const { return thousandths_ / 1000; }

  friend constexpr auto operator<=>(const Vcpus&, const Vcpus&) = default;
  constexpr Vcpus& operator+=(Vcpus o) {
    thousandths_ += o.thousandths_;
    return *this;
  }
  constexpr Vcpus& operator-=(Vcpus o) {
    thousandths_ -= o.thousandths_;
    return *this;
  }
  friend constexpr Vcpus operator+(Vcpus a, Vcpus b) { return a += b; }
  friend constexpr Vcpus operator-(Vcpus a, Vcpus b) { return a -= b; }
  /// The amount for so many items; the caller knows that it is no overflow.
  friend constexpr Vcpus operator*(Vcpus each, std::int64_t items) {
    return of_thousandths(each.thousandths_ * items);
  }

 private:
  std::int64_t thousandths_ = 0;
};

/// The most that one host or one piece of work may have.
inline constexpr Vcpus kVcpusMax = 1 << 20;

/// "2", "0.25", "1.5": without zeros at the end.
std::string to_string(Vcpus vcpus);
/// The inverse, from 0 to kVcpusMax. Refuses more than three decimals; the error says what is
/// allowed.
Result<Vcpus> parse_vcpus(std::string_view text);

}  // namespace hostler::model
