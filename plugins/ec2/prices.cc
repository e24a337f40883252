#include "prices.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <ctime>
#include <utility>

#include "http/text.h"

namespace hostler::ec2 {
namespace {

constexpr std::size_t kKeptMax = 2000;
constexpr std::size_t kTypesMax = 100;  ///< Of one request.
constexpr std::int64_t kSecond = 1'000'000'000;

}  // namespace

std::int64_t read_micros(const std::string& text) {
  double amount = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), amount);
  const bool good = error == std::errc{} && end == text.data() + text.size() && amount >= 0 &&
                    amount <= 1'000'000;
  return good ? std::llround(amount * 1e6) : -1;
}

std::string time_text(std::int64_t unix_ns) {
  const auto seconds = static_cast<std::time_t>(unix_ns / kSecond);
  std::tm utc{};
  std::array<char, 32> out{};
  ::gmtime_r(&seconds, &utc);
  std::strftime(out.data(), out.size(), "%Y-%m-%dT%H:%M:%SZ", &utc);
  return out.data();
}

std::vector<SpotPrice> SpotPrices::ask(const std::vector<std::string>& types, std::int64_t since,
                                       hostler_op* op) {
  Query query("DescribeSpotPriceHistory");
  query.add("ProductDescription.1", "Linux/UNIX").add("StartTime", time_text(since));
  if (types.size() <= kTypesMax) query.add_list("InstanceType", types);
  std::vector<SpotPrice> out;
  api_.each(
      query, 1000, "spotPriceHistorySet",
      [&](const Node& item) {
        SpotPrice one{text_of(item, "instanceType"), text_of(item, "availabilityZone"),
                      http::read_time_ns(text_of(item, "timestamp")),
                      read_micros(text_of(item, "spotPrice"))};
        if (one.type.empty() || one.zone.empty() || one.micros_per_hour < 0)
          throw_not_amazon("a spot price without a type, a zone or a price");
        out.push_back(std::move(one));
      },
      op);
  const std::lock_guard lock(mutex_);
  for (const SpotPrice& one : out) {
    SpotPrice& last = last_[{one.type, one.zone}];
    if (last.start_unix_ns <= one.start_unix_ns) last = one;
  }
  return out;
}

std::int64_t SpotPrices::known(const std::string& type, const std::string& zone) {
  const std::lock_guard lock(mutex_);
  const auto found = last_.find({type, zone});
  return found == last_.end() ? -1 : found->second.micros_per_hour;
}

std::vector<SpotPrice> SpotPrices::history(const std::string& type, std::int64_t since,
                                           hostler_op* op) {
  const auto now = std::chrono::steady_clock::now();
  {
    const std::lock_guard lock(mutex_);
    const auto found = kept_.find(type);
    if (found != kept_.end() && found->second.since <= since && now - found->second.as_of < keep_)
      return in_force_since(found->second.prices, since);
  }
  std::vector<SpotPrice> prices = in_force_since(ask({type}, since, op), since);
  const std::lock_guard lock(mutex_);
  if (kept_.size() >= kKeptMax) kept_.clear();
  kept_[type] = {since, now, prices};
  return prices;
}

std::vector<SpotPrice> SpotPrices::now(const std::vector<std::string>& types, hostler_op* op) {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const auto ns = std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
  return in_force_since(ask(types, ns, op), ns);
}

std::vector<SpotPrice> in_force_since(const std::vector<SpotPrice>& prices, std::int64_t since) {
  std::vector<SpotPrice> out;
  std::map<std::pair<std::string, std::string>, const SpotPrice*> before;
  for (const SpotPrice& one : prices) {
    if (one.start_unix_ns > since) {
      out.push_back(one);
      continue;
    }
    const SpotPrice*& last = before[{one.type, one.zone}];
    if (last == nullptr || last->start_unix_ns < one.start_unix_ns) last = &one;
  }
  for (const auto& [where, one] : before) out.push_back(*one);
  return out;
}

}  // namespace hostler::ec2
