#include "core/expression/value.h"

#include <initializer_list>

namespace hostler::expression {
namespace {

/// Go's reflect.DeepEqual: 1 and 1.0 are different.
bool same(const Value& a, const Value& b) {
  if (a.tag != b.tag || a.size != b.size) return false;
  switch (a.tag) {
    case Tag::kInt:
      return a.whole == b.whole;
    case Tag::kFloat:
      return a.number == b.number;
    case Tag::kBool:
      return a.truth == b.truth;
    case Tag::kRange:
      return a.size == 0 || a.whole == b.whole;
    case Tag::kArray:
      break;
  }
  if (a.elements == b.elements) return true;  // also with a NaN in it
  for (std::uint32_t i = 0; i < a.size; ++i)
    if (!same(a.elements[i], b.elements[i])) return false;
  return true;
}

/// As expr's, a range goes on with the least int64 after the largest one.
bool has_element(const Value& range, std::int64_t whole) {
  return static_cast<std::uint64_t>(whole) - static_cast<std::uint64_t>(range.whole) < range.size;
}

/// Beyond 2^53 several whole numbers are one float: then the first or the last element, or the
/// largest int64, may be equal to a float whose own whole number lies outside.
bool range_contains(const Value& range, const Value& needle) {
  if (range.size == 0 || !is_number(needle)) return false;
  if (needle.tag == Tag::kInt) return has_element(range, needle.whole);
  const auto last =
      static_cast<std::int64_t>(static_cast<std::uint64_t>(range.whole) + (range.size - 1U));
  for (const std::int64_t each : {range.whole, last, INT64_MAX, to_int(needle.number)})
    if (static_cast<double>(each) == needle.number && has_element(range, each)) return true;
  return false;
}

}  // namespace

bool equal(const Value& a, const Value& b) {
  if (!is_number(a) || !is_number(b)) return same(a, b);
  if (a.tag == Tag::kInt && b.tag == Tag::kInt) return a.whole == b.whole;
  return to_float(a) == to_float(b);
}

bool contains(const Value& list, const Value& needle) {
  if (list.tag == Tag::kRange) return range_contains(list, needle);
  for (std::uint32_t i = 0; i < list.size; ++i)
    if (equal(list.elements[i], needle)) return true;
  return false;
}

}  // namespace hostler::expression
