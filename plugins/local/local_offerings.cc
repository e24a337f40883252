// What the local set sells: types with their prices, now and before.
#include <algorithm>
#include <vector>

#include "local_set.h"

namespace hostler::local {

using driver::str;
using driver::view;

void LocalSet::offerings(const hostler_offerings_req& request, hostler_op* op) {
  const auto* const end = request.provider_types + request.n_provider_types;
  for (const auto& [name, type] : config_.types) {
    const bool is_wanted =
        request.n_provider_types == 0 ||
        std::any_of(request.provider_types, end,
                    [&name = name](const hostler_str& one) { return view(one) == name; });
    if (!is_wanted || type.vcpus == 0) continue;
    for (const std::uint32_t market : {HOSTLER_MARKET_ON_DEMAND, HOSTLER_MARKET_SPOT})
      if (request.market == HOSTLER_MARKET_ANY || request.market == market)
        emit_offerings(name, type, market, op);
  }
}

void LocalSet::emit_offerings(const std::string& name, const TypeConfig& type, std::uint32_t market,
                              hostler_op* op) {
  for (const std::string& zone : config_.zones) {
    const auto stock = type.stock_in.find(zone);
    const bool is_empty = type.stock == 0 || (stock != type.stock_in.end() && stock->second == 0);
    auto out = driver::offering_record();
    out.provider_type = str(name);
    out.region = str(config_.region);
    out.zone = str(zone);
    out.architecture = str(type.architecture);
    out.vcpus = static_cast<std::uint32_t>(type.vcpus);
    out.gpus = static_cast<std::uint32_t>(type.gpus);
    out.ram_bytes = static_cast<std::uint64_t>(type.ram_gib) << 30U;
    out.scratch_bytes = static_cast<std::uint64_t>(type.scratch_gib) << 30U;
    out.market = market;
    out.price_micros_per_hour = price_at(type.prices, zone, market, now_ns());
    out.available = is_empty ? HOSTLER_AVAILABLE_NO : HOSTLER_AVAILABLE_YES;
    driver::emit(op, out);
  }
}

void LocalSet::price_history(const hostler_price_req& request, hostler_op* op) {
  const auto type = config_.types.find(std::string(view(request.type->provider_type)));
  std::vector<PriceChange> changes;
  if (type != config_.types.end()) changes = type->second.prices;
  if (changes.empty() && request.type->price_micros_per_hour >= 0)  // the price has never changed
    changes.push_back({"", HOSTLER_MARKET_ANY, 0, request.type->price_micros_per_hour});
  for (const std::string& zone : config_.zones) {
    for (const std::uint32_t market : {HOSTLER_MARKET_ON_DEMAND, HOSTLER_MARKET_SPOT}) {
      if (request.market != HOSTLER_MARKET_ANY && request.market != market) continue;
      for (const Price& price :
           local::price_history(changes, zone, market, request.since_unix_ns, now_ns())) {
        auto out = driver::price_record();
        out.zone = str(price.zone);
        out.start_unix_ns = price.start_unix_ns;
        out.price_micros_per_hour = price.micros_per_hour;
        out.market = price.market;
        driver::emit(op, out);
      }
    }
  }
}

}  // namespace hostler::local
