#include "core/model/create_request.h"

#include <algorithm>
#include <cstddef>

#include "core/model/currency.h"
#include "core/model/instance.h"

namespace hostler::model {
namespace {

/// Of a driver that does not say how long names may be.
constexpr std::size_t kNameMax = 63;

/// The id tells names apart, so the name of the pool is what is cut.
std::string name_hint(const std::string& pool, const std::string& id, std::size_t name_max) {
  std::string begin = "hostler-" + pool;
  const std::size_t end = id.size() + 1;
  const std::size_t most = name_max == 0 ? kNameMax : name_max;
  if (most <= end) return id.size() <= most ? id : "";
  if (begin.size() > most - end) begin.resize(most - end);
  return begin + "-" + id;
}

/// The type as a driver needs it: what says how it was found, or how its hosts are used, is left
/// out.
InstanceType type_of(const CreateOrder& order, double rate) {
  InstanceType out = order.type;
  out.image.reset();
  out.image_id = order.image_id;
  out.quota_group = order.quota_group;
  out.placement = {};
  out.jobs_max = 0;
  out.reserve = {};
  out.only_in.clear();
  const auto& with_pools = order.pool.provider_params;
  if (const auto found = with_pools.find(out.name); found != with_pools.end())
    out.provider_params_json = found->second;
  out.price_per_hour = from_site(order.type.price_per_hour, rate);
  return out;
}

Tags tags_of(const CreateOrder& order) {
  Tags out = order.set.tags;
  out[tag::kSet] = order.set.name;
  out[tag::kOwner] = order.owner;
  out[tag::kPool] = order.pool.name;
  out[tag::kEpoch] = std::to_string(order.epoch);
  out[tag::kType] = order.type.name;
  out[tag::kIdle] = "run";
  return out;
}

}  // namespace

std::vector<Place> places_of(const PoolPolicy& pool, const InstanceType& type) {
  std::vector<std::string> zones = type.zones;
  if (zones.empty()) zones.emplace_back();
  auto subnets = placement_of(pool.placement, type.placement).subnets;
  if (subnets.empty()) subnets.emplace_back();
  std::vector<Place> out;
  for (const auto& zone : zones)
    for (const auto& subnet : subnets)
      if (zone.empty() || subnet.zone.empty() || zone == subnet.zone)
        out.push_back({zone.empty() ? subnet.zone : zone, subnet.id});
  return out;
}

CreateRequest create_request(const CreateOrder& order) {
  const auto& [site, set, pool, type, info, place, image_id, quota_group, host, owner, epoch] =
      order;
  const double rate = rate_of(site, info.currency).value_or(1);
  CreateRequest out;
  out.host_instance_id = host;
  out.owner = owner;
  out.epoch = epoch;
  out.type = type_of(order, rate);
  out.region = set.region;
  out.zone = place.zone;
  out.subnet = place.subnet;
  out.remote_user = set.remote_user;
  out.placement = placement_of(pool.placement, type.placement);
  out.placement.subnets.clear();
  if (type.market == Market::kSpot && pool.price_cap_per_hour.value != 0) {
    const std::int64_t cap = pool.price_cap_per_hour.value - volume_price(set, type).value;
    out.price_cap_per_hour = from_site({std::max<std::int64_t>(1, cap)}, rate);
  }
  out.name_hint = name_hint(pool.name, host, info.name_max);
  out.tags = tags_of(order);
  return out;
}

void set_key(CreateRequest& request, const std::string& key) {
  request.idempotency_key = key;
  request.tags[tag::kKey] = key;
}

}  // namespace hostler::model
