#include "core/model/vcpus.h"

#include <algorithm>

#include "core/base/text.h"

namespace hostler::model {
namespace {

constexpr std::size_t kDecimalsMax = 3;

bool are_digits(std::string_view text) {
  return !text.empty() && text.size() <= 9 &&
         std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

std::string to_string(Vcpus vcpus) {
  const std::int64_t size = vcpus.thousandths() < 0 ? -vcpus.thousandths() : vcpus.thousandths();
  std::string decimals = std::to_string(size % 1000 + 1000);
  decimals[0] = '.';
  decimals.erase(decimals.find_last_not_of('0') + 1);
  if (decimals == ".") decimals.clear();
  return (vcpus.thousandths() < 0 ? "-" : "") + std::to_string(size / 1000) + decimals;
}

Result<Vcpus> parse_vcpus(std::string_view text) {
  const std::size_t point = text.find('.');
  const std::string_view whole = text.substr(0, point);
  std::string decimals(point == std::string_view::npos ? "0" : text.substr(point + 1));
  const auto number = are_digits(whole) ? parse_u64(whole) : std::nullopt;
  bool is_good = number && are_digits(decimals) && decimals.size() <= kDecimalsMax;
  Vcpus out;
  if (is_good) {
    decimals.resize(kDecimalsMax, '0');
    out = Vcpus::of_thousandths(static_cast<std::int64_t>(*number) * 1000 +
                                static_cast<std::int64_t>(parse_u64(decimals).value_or(0)));
    is_good = out <= kVcpusMax;
  }
  if (!is_good)
    return fail(Errc::kInvalidArgument,
                "'" + printable(text, 40) + "' is no number of vcpus, allowed: 0 to " +
                    to_string(kVcpusMax) + " with at most three decimals, such as 2 or 0.25");
  return out;
}

}  // namespace hostler::model
