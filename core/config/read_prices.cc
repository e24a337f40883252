#include <algorithm>
#include <array>
#include <string>
#include <tuple>
#include <utility>

#include "core/base/text.h"
#include "core/config/readers.h"
#include "core/json/document.h"
#include "core/model/currency.h"

namespace hostler::config {
namespace {

constexpr std::size_t kPricesFileMax = std::size_t{8} << 20, kEntriesMax = 50'000;
constexpr double kRateMin = 1e-9, kRateMax = 1e9;
constexpr std::array kFileMarkets{
    json::Word<model::Market>{"on_demand", model::Market::kOnDemand},
    json::Word<model::Market>{"spot", model::Market::kSpot},
};

/// ISO 4217: three capital letters.
bool is_currency(std::string_view text) {
  return text.size() == 3 && std::ranges::all_of(text, [](char c) { return c >= 'A' && c <= 'Z'; });
}
constexpr const char* kCurrencyForm = "three capital letters, as \"USD\"";

/// In the currency of the site.
void read_file_price(json::Object& o, const model::SitePolicy& site, model::Micros& out) {
  o.need("price_per_hour").millionths(out.value, 0, kPriceMax);
  const json::Field field = o.need("currency");
  std::string currency;
  if (!field.text(currency, {.bytes_max = 16, .one_line = true})) return;
  if (!is_currency(currency)) {
    field.refuse(kCurrencyForm);
    return;
  }
  if (const auto rate = model::rate_of(site, currency))
    out = model::to_site(out, *rate);
  else
    field.problem(model::no_rate_text(site, currency));
}

void read_entry(json::Object& o, const model::SitePolicy& site, model::FilePrice& out) {
  o.need("provider_type")
      .text(out.provider_type, {.bytes_max = 200, .bytes_min = 1, .one_line = true});
  o.may("zone").text(out.zone, {.bytes_max = 63, .one_line = true});
  o.may("market").word(out.market, kFileMarkets);
  read_file_price(o, site, out.price_per_hour);
}

auto place(const model::FilePrice& one) {
  return std::tie(one.provider_type, one.market, one.zone);
}

/// Problems have their path in the file.
void read_entries(const std::string& content, const model::SitePolicy& site,
                  json::Problems& problems, std::vector<model::FilePrice>& out,
                  model::Micros& volume) {
  const auto document =
      json::Document::parse(content, {.bytes_max = kPricesFileMax, .comments = true});
  if (!document) return problems.add(document.error());
  json::Field(document->root(), problems).object([&](json::Object& o) {
    o.may("volume_price").object([&](json::Object& one) { read_file_price(one, site, volume); });
    o.need("prices").each(kEntriesMax, [&](const json::Field& element) {
      if (problems.full()) return;
      element.object([&](json::Object& entry) { read_entry(entry, site, out.emplace_back()); });
    });
  });
  std::ranges::stable_sort(out, {}, place);
  const auto twice = std::ranges::adjacent_find(out, {}, place);
  if (problems.ok() && twice != out.end())
    problems.add(Error{Errc::kInvalidArgument,
                       "prices: \"" + printable(twice->provider_type, 200) + "\"" +
                           (twice->zone.empty() ? "" : " in zone \"" + twice->zone + "\"") +
                           " has two prices in market " + model::to_string(twice->market)});
}

}  // namespace

void read_currency(json::Object& o, model::SitePolicy& out) {
  const json::Field currency = o.may("currency");
  if (currency.text(out.currency, {.bytes_max = 16, .one_line = true}) &&
      !is_currency(out.currency))
    currency.refuse(kCurrencyForm);
  const json::Field rates = o.may("exchange_rates");
  rates.members(200, [&](std::string_view name, const json::Field& value) {
    double rate = 0;
    if (!is_currency(name)) value.problem(std::string("a currency is ") + kCurrencyForm);
    if (value.number(rate, kRateMin, kRateMax)) out.exchange_rates[std::string(name)] = rate;
  });
  if (rates.present() && out.currency.empty())
    rates.problem("it needs `currency`: the rates say what one of another currency is in it");
}

void read_prices(const json::Field& field, const Context& context, const model::SitePolicy& site,
                 model::SetPolicy& out) {
  std::string path, content;
  if (!read_named_file(field, context, kPricesFileMax, path, content)) return;
  json::Problems problems;
  std::vector<model::FilePrice> prices;
  read_entries(content, site, problems, prices, out.volume_price);
  if (problems.ok())
    out.file_prices = std::move(prices);
  else
    field.problem(path + ": " + problems.result().error().message);
}

}  // namespace hostler::config
