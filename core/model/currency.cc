#include "core/model/currency.h"

#include <algorithm>
#include <cmath>

#include "core/base/text.h"

namespace hostler::model {
namespace {

constexpr double kMicrosMax = 9e18;
constexpr std::size_t kCurrencyMax = 16;

Micros micros(double value) {
  return {static_cast<std::int64_t>(std::clamp(value, 0.0, kMicrosMax))};
}

}  // namespace

std::optional<double> rate_of(const SitePolicy& site, const std::string& currency) {
  if (currency.empty() || site.currency.empty() || currency == site.currency) return 1.0;
  const auto found = site.exchange_rates.find(currency);
  if (found == site.exchange_rates.end()) return std::nullopt;
  return found->second;
}

Micros to_site(Micros price, double rate) {
  if (rate == 1.0) return price;
  return micros(std::ceil(static_cast<double>(price.value) * rate));
}

Micros from_site(Micros limit, double rate) {
  if (rate == 1.0 || limit.value == 0) return limit;
  return std::max(Micros{1}, micros(std::floor(static_cast<double>(limit.value) / rate)));
}

std::string no_rate_text(const SitePolicy& site, const std::string& currency) {
  return "prices in " + printable(currency, kCurrencyMax) +
         " are not used: the currency of the site is " + site.currency +
         ", and `exchange_rates` has no rate for " + printable(currency, kCurrencyMax);
}

}  // namespace hostler::model
