#include "core/expression/value.h"

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

/// Beyond 2^53 several whole numbers are one float: then an end of the range may be equal to one
/// that lies outside.
bool range_contains(const Value& range, const Value& needle) {
  if (range.size == 0 || !is_number(needle)) return false;
  const std::int64_t first = range.whole, last = first + (std::int64_t{range.size} - 1);
  if (needle.tag == Tag::kInt) return needle.whole >= first && needle.whole <= last;
  const double wanted = needle.number;
  if (static_cast<double>(first) == wanted || static_cast<double>(last) == wanted) return true;
  const std::int64_t whole = to_int(wanted);
  return static_cast<double>(whole) == wanted && whole >= first && whole <= last;
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
