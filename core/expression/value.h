#pragma once

#include <cstdint>

/// The values that an expression computes with. As in expr, the type of a value is known only when
/// it is computed: a branch may give a whole number, the other one an array.
namespace hostler::expression {

enum class Tag : std::uint8_t { kInt, kFloat, kBool, kArray, kRange };

/// Trivial, so that the stack of an evaluation costs nothing until it is used.
struct Value {
  Tag tag;
  std::uint32_t size;  ///< kArray, kRange: number of elements.
  union {
    std::int64_t whole;     ///< kInt; kRange: the first one.
    double number;          ///< kFloat
    bool truth;             ///< kBool
    const Value* elements;  ///< kArray; two values with the same address are the same array.
  };
};

inline Value of_int(std::int64_t whole) { return {.tag = Tag::kInt, .size = 0, .whole = whole}; }
inline Value of_float(double number) { return {.tag = Tag::kFloat, .size = 0, .number = number}; }
inline Value of_bool(bool truth) { return {.tag = Tag::kBool, .size = 0, .truth = truth}; }
inline Value of_array(const Value* elements, std::uint32_t size) {
  return {.tag = Tag::kArray, .size = size, .elements = elements};
}
inline Value of_range(std::int64_t first, std::uint32_t size) {
  return {.tag = Tag::kRange, .size = size, .whole = first};
}

inline bool is_number(const Value& value) {
  return value.tag == Tag::kInt || value.tag == Tag::kFloat;
}
inline bool is_list(const Value& value) {
  return value.tag == Tag::kArray || value.tag == Tag::kRange;
}
/// `value` is a number.
inline double to_float(const Value& value) {
  return value.tag == Tag::kInt ? static_cast<double>(value.whole) : value.number;
}
/// A number as Go on amd64 converts it: towards 0; what does not fit, and NaN, is the least int64.
inline std::int64_t to_int(double number) {
  return number >= -0x1p63 && number < 0x1p63 ? static_cast<std::int64_t>(number) : INT64_MIN;
}
inline std::int64_t to_int(const Value& value) {
  return value.tag == Tag::kInt ? value.whole : to_int(value.number);
}

/// expr's `==`, for values of any types.
bool equal(const Value& a, const Value& b);
/// expr's `needle in list`.
bool contains(const Value& list, const Value& needle);

}  // namespace hostler::expression
