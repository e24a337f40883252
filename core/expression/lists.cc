#include "core/expression/lists.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "core/expression/limits.h"

namespace hostler::expression {
namespace {

std::uint64_t bits(std::int64_t whole) { return static_cast<std::uint64_t>(whole); }

/// Of whole numbers a whole one, which wraps; floats from the first float on.
const char* sum_of(std::span<const Value> values, Value& out) {
  out = of_int(0);
  for (const Value& value : values) {
    if (!is_number(value)) return "arrays have numbers only";
    if (out.tag == Tag::kInt && value.tag == Tag::kInt)
      out.whole = static_cast<std::int64_t>(bits(out.whole) + bits(value.whole));
    else
      out = of_float(to_float(out) + to_float(value));
  }
  return nullptr;
}

const char* mean_of(std::span<const Value> values, Value& out) {
  double sum = 0;
  for (const Value& value : values) {
    if (!is_number(value)) return "arrays have numbers only";
    sum += to_float(value);
  }
  out = of_float(values.empty() ? 0 : sum / static_cast<double>(values.size()));
  return nullptr;
}

/// As Go sorts: NaN before all numbers.
bool sorts_before(double a, double b) { return a < b || (std::isnan(a) && !std::isnan(b)); }

const char* median_of(std::span<const Value> values, Value& out) {
  std::array<double, kStepsMax> sorted;  // uninitialised: most of it is never used
  const std::size_t size = values.size();
  for (std::size_t i = 0; i < size; ++i) {
    if (!is_number(values[i])) return "arrays have numbers only";
    sorted[i] = to_float(values[i]);
  }
  std::sort(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(size), sorts_before);
  const std::size_t middle = size / 2;
  out = of_float(size == 0       ? 0
                 : size % 2 == 1 ? sorted[middle]
                                 : (sorted[middle - 1] + sorted[middle]) / 2);
  return nullptr;
}

std::int64_t element(const Value& range, std::uint64_t index) {
  return static_cast<std::int64_t>(bits(range.whole) + index);
}

Value sum_of_range(const Value& range) {
  const std::uint64_t size = range.size;
  const std::uint64_t steps = size == 0 ? 0 : size * (size - 1) / 2;
  return of_int(static_cast<std::int64_t>(size * bits(range.whole) + steps));
}

/// expr adds floats one after the other. Below 2^53 that is exact, and so is the short way.
const char* mean_of_range(const Value& range, Value& out, std::uint64_t& looked_at) {
  constexpr std::int64_t kExact = std::int64_t{1} << 53;
  const std::int64_t size = range.size, most = size == 0 ? 0 : kExact / size;
  double sum = 0;
  if (size == 0 || (range.whole >= -most && element(range, range.size - 1) <= most)) {
    sum = static_cast<double>(sum_of_range(range).whole);
  } else {
    looked_at += range.size;
    if (looked_at > kLookedAtMax) return "this takes too many steps";
    for (std::uint64_t i = 0; i < range.size; ++i) sum += static_cast<double>(element(range, i));
  }
  out = of_float(size == 0 ? 0 : sum / static_cast<double>(size));
  return nullptr;
}

Value median_of_range(const Value& range) {
  if (range.size == 0) return of_float(0);
  const auto middle = static_cast<double>(element(range, range.size / 2));
  if (range.size % 2 == 1) return of_float(middle);
  return of_float((static_cast<double>(element(range, range.size / 2 - 1)) + middle) / 2);
}

const char* of_range_summary(Op op, const Value& range, Value& out, std::uint64_t& looked_at) {
  if (op == Op::kMean) return mean_of_range(range, out, looked_at);
  out = op == Op::kSum ? sum_of_range(range) : median_of_range(range);
  return nullptr;
}

}  // namespace

const char* summary(Op op, const Value& list, Value& out, std::uint64_t& looked_at) {
  if (!is_list(list)) return "this function takes an array";
  if (op == Op::kLen) {
    out = of_int(list.size);
    return nullptr;
  }
  const Value copy = list;  // `out` may be the same
  if (copy.tag == Tag::kRange) return of_range_summary(op, copy, out, looked_at);
  const std::span values(copy.elements, copy.size);
  if (op == Op::kSum) return sum_of(values, out);
  return op == Op::kMean ? mean_of(values, out) : median_of(values, out);
}

}  // namespace hostler::expression
