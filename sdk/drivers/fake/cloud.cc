#include "cloud.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace hostler::fake {

using driver::Error;

std::shared_ptr<Cloud> Cloud::of(const Settings& settings) {
  static std::mutex mutex;
  static auto* const clouds = new std::map<std::string, std::shared_ptr<Cloud>>;
  if (settings.cloud.empty()) return std::make_shared<Cloud>(settings);
  const std::lock_guard<std::mutex> lock(mutex);
  auto& cloud = (*clouds)[settings.cloud];
  if (cloud == nullptr) cloud = std::make_shared<Cloud>(settings);
  return cloud;
}

Cloud::Cloud(Settings settings)
    : settings_(std::move(settings)),
      chance_(settings_.seed),
      market_(settings_, chance_),
      clock_(settings_.clock_of_steps, settings_.step_ms),
      tokens_(static_cast<double>(settings_.burst)) {}

std::uint64_t Cloud::count_call(const std::string& name) {
  const std::lock_guard<std::mutex> lock(mutex_);
  return calls_[name]++;
}

void Cloud::limit_rate(std::int64_t now) {
  if (settings_.calls_per_second == 0) return;
  const std::lock_guard<std::mutex> lock(mutex_);
  const double per_ms = settings_.calls_per_second / 1000;
  const double more = static_cast<double>(now - tokens_at_) * per_ms;
  tokens_ = std::min(tokens_ + more, static_cast<double>(settings_.burst));
  tokens_at_ = now;
  if (tokens_ < 1) {
    const auto wait = static_cast<std::int64_t>(std::ceil((1 - tokens_) / per_ms));
    throw Error(HOSTLER_E_RATE_LIMIT, "too many calls in this account")
        .about(HOSTLER_SCOPE_ACCOUNT)
        .provider("Throttled")
        .retry_after(std::chrono::milliseconds(wait));
  }
  tokens_ -= 1;
}

// ---- limits ------------------------------------------------------------------------------------

const TypeSettings* Cloud::type_of(const std::string& name) const {
  const auto found = settings_.types.find(name);
  return found == settings_.types.end() ? nullptr : &found->second;
}

template <class Which>
std::int64_t Cloud::count(std::int64_t now, const Which& which) const {
  return std::count_if(machines_.begin(), machines_.end(), [&](const auto& entry) {
    return entry.second.exists(now) && which(entry.second);
  });
}

void Cloud::check_limits(const Order& order, std::int64_t now) const {
  const auto* const type = type_of(order.type);
  if (type == nullptr && !settings_.types.empty())
    throw Error(HOSTLER_E_INVALID, "no type '" + order.type + "': see `types` in the config")
        .about(HOSTLER_SCOPE_TYPE, order.type);
  const auto all = count(now, [](const Machine&) { return true; });
  if (settings_.instances_max > 0 && all >= settings_.instances_max)
    throw Error(HOSTLER_E_QUOTA, "the account has all machines that it may have: destroy some")
        .about(HOSTLER_SCOPE_ACCOUNT)
        .quota(settings_.instances_max, all);
  if (type == nullptr) return;
  const auto quota = settings_.quotas.find(type->group);
  if (quota == settings_.quotas.end()) return;
  const auto used = count(now, [&](const Machine& machine) {
    const auto* const its = type_of(machine.type);
    return its != nullptr && its->group == type->group;
  });
  if (used >= quota->second)
    throw Error(HOSTLER_E_QUOTA, "the quota of group '" + type->group + "' is used up")
        .about(HOSTLER_SCOPE_GROUP, type->group)
        .provider("QuotaExceeded")
        .quota(quota->second, used);
}

bool Cloud::has_stock(const std::string& type, const std::string& zone, std::int64_t now) const {
  const auto* const limits = type_of(type);
  if (limits == nullptr) return true;
  const auto of_type = [&](const Machine& machine) {
    return machine.type == type && !machine.lacks_stock;
  };
  if (limits->stock && count(now, of_type) >= *limits->stock) return false;
  const auto here = limits->stock_in.find(zone);
  return here == limits->stock_in.end() || count(now, [&](const Machine& machine) {
                                             return of_type(machine) && machine.zone == zone;
                                           }) < here->second;
}

/// The zone where the order can be met, at its price. `is_accepted`: also without stock.
std::string Cloud::zone_for(const Order& order, bool is_accepted, std::int64_t now) const {
  const auto market = order.spot ? HOSTLER_SCOPE_MARKET : 0U;
  for (const std::string& zone : settings_.zones) {
    if (!order.zone.empty() && order.zone != zone) continue;
    const bool affordable = !order.spot || order.price_cap == 0 ||
                            market_.price(order.type, zone, true, now) <= order.price_cap;
    const bool will_do = is_accepted && !order.zone.empty();
    if (affordable && (will_do || has_stock(order.type, zone, now))) return zone;
    if (!order.zone.empty())
      throw Error(HOSTLER_E_CAPACITY,
                  affordable ? "no stock of " + order.type + " in " + zone
                             : "the price of " + order.type + " in " + zone + " is above the cap")
          .about(HOSTLER_SCOPE_TYPE, order.type)
          .about(HOSTLER_SCOPE_ZONE, zone)
          .about(market);
  }
  if (!order.zone.empty())
    throw Error(HOSTLER_E_INVALID, "no zone '" + order.zone + "': see `zones` in the config");
  if (is_accepted && !order.spot) return settings_.zones.front();
  throw Error(HOSTLER_E_CAPACITY, "no stock of " + order.type + " in any zone")
      .about(HOSTLER_SCOPE_TYPE, order.type)
      .about(market);
}

// ---- machines ----------------------------------------------------------------------------------

Machine Cloud::create(const Order& order, std::int64_t now) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (const auto known = machines_.find(order.key); known != machines_.end()) {
    if (known->second.type != order.type || known->second.spot != order.spot ||
        known->second.remote_user != order.remote_user)
      throw Error(HOSTLER_E_CONFLICT, "the key is known with other arguments");
    return known->second;
  }
  check_limits(order, now);
  Machine made;
  const bool is_accepted = chance_.happens(settings_.late_shortages, "late shortage", order.key);
  made.zone = zone_for(order, is_accepted, now);
  made.lacks_stock = !has_stock(order.type, made.zone, now);
  made.key = order.key;
  made.type = order.type;
  made.spot = order.spot;
  made.remote_user = order.remote_user;
  made.tags = order.tags;
  made.id = "fake-" + std::to_string(machines_.size() + 1);
  made.created = now;
  const std::string& key = order.key;
  made.boots = now + chance_.between(settings_.boot_ms, settings_.boot_spread_ms, "boot", key);
  made.boot_fails = chance_.happens(settings_.boot_failures, "boot fails", key);
  made.shown = now + chance_.between(0, settings_.consistency_ms, "shown", key);
  made.lingers = chance_.between(0, settings_.consistency_ms, "lingers", key);
  if (made.spot && settings_.reclaim_ms > 0)
    made.ends = made.reclaimed =
        now + chance_.between(settings_.reclaim_ms / 2, settings_.reclaim_ms, "reclaim", key);
  return machines_.emplace(key, made).first->second;
}

std::vector<Machine> Cloud::list(std::int64_t now) {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::vector<Machine> out;
  for (const auto& [key, machine] : machines_)
    if (machine.is_listed(now)) out.push_back(machine);
  return out;
}

Machine* Cloud::find(std::string_view id, std::string_view key, std::int64_t now) {
  for (auto& [its_key, machine] : machines_)
    if (machine.exists(now) && (id.empty() ? its_key == key : machine.id == id)) return &machine;
  return nullptr;
}

void Cloud::destroy(std::string_view id, std::string_view key, std::string_view expected_set,
                    std::int64_t now) {
  const std::lock_guard<std::mutex> lock(mutex_);
  Machine* const machine = find(id, key, now);
  if (machine == nullptr) return;
  if (!expected_set.empty() && machine->tags["hostler-set"] != expected_set)
    throw Error(HOSTLER_E_CONFLICT, machine->id + " is another set's");
  machine->ends = now;
}

}  // namespace hostler::fake
