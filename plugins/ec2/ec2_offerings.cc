#include "ec2_set.h"
#include "offerings.h"
#include "prices.h"
#include "quota_group.h"

namespace hostler::ec2 {

using driver::str;

namespace {

std::vector<std::string> names_of(const hostler_offerings_req& request, const Config& config) {
  if (request.n_provider_types == 0) return config.types;
  std::vector<std::string> out;
  for (std::size_t i = 0; i < request.n_provider_types; ++i)
    out.push_back(text(request.provider_types[i]));
  return out;
}

/// `query` for some of the names at a time; once, if there are none. Names that the host asks for
/// are exact.
template <class Body>
void for_names(const std::vector<std::string>& names, const Query& query, const char* filter,
               const Body& body) {
  for_each_filter(names, [&](const std::vector<std::string>& some) {
    Query one = query;
    if (!some.empty()) one.add_pattern(filter, some);
    body(one);
  });
}

/// More are not told: then hostler knows their number only.
constexpr std::size_t kGpuGroupsMax = 8;

void emit_offering(const Offered& one, const std::string& region, hostler_op* op) {
  auto out = driver::offering_record();
  out.provider_type = str(one.type->name);
  out.region = str(region);
  out.zone = str(one.zone);
  out.architecture = str(one.type->architecture);
  out.price_micros_per_hour = one.micros_per_hour;
  out.ram_bytes = one.type->ram_bytes;
  out.scratch_bytes = one.type->scratch_bytes;
  out.vcpus = one.type->vcpus;
  out.gpus = one.type->gpus;
  std::vector<hostler_gpu_group> groups;
  for (const GpuGroup& group : one.type->gpu_groups)
    groups.push_back({str(group.kind), group.memory_bytes, group.count, 0});
  if (groups.size() <= kGpuGroupsMax)
    out.gpu_groups = groups.data(), out.n_gpu_groups = groups.size();
  out.market = one.market;
  out.available = HOSTLER_AVAILABLE_UNKNOWN;  // only a create can tell
  driver::emit(op, out);
}

}  // namespace

/// Again each time: a site writes it anew when prices change.
std::map<std::string, std::int64_t> Ec2Set::read_on_demand_prices() {
  if (config_.prices_file.empty()) return {};
  auto prices = read_prices(config_.prices_file);
  const std::lock_guard lock(mutex_);
  return on_demand_ = std::move(prices);
}

void Ec2Set::offerings(const hostler_offerings_req& request, hostler_op* op) {
  const auto on_demand = read_on_demand_prices();
  const std::vector<std::string> names = names_of(request, config_);
  with_context("list the types of " + config_.region, [&] {
    std::vector<InstanceType> types;
    for_names(names, Query("DescribeInstanceTypes"), "instance-type", [&](const Query& query) {
      ec2_.each(
          query, 100, "instanceTypeSet",
          [&](const Node& item) { types.push_back(read_instance_type(item)); }, op);
    });
    std::map<std::string, std::vector<std::string>> zones;
    Query where("DescribeInstanceTypeOfferings");
    where.add("LocationType", "availability-zone");
    for_names(names, where, "instance-type", [&](const Query& query) {
      ec2_.each(
          query, 1000, "instanceTypeOfferingSet",
          [&](const Node& item) {
            zones[text_of(item, "instanceType")].push_back(text_of(item, "location"));
          },
          op);
    });
    std::vector<SpotPrice> spot;
    if (request.market != HOSTLER_MARKET_ON_DEMAND) {
      std::vector<std::string> exact;
      for (const InstanceType& one : types) exact.push_back(one.name);
      spot = spot_prices_.now(exact, op);
    }
    for (const Offered& one : offered(types, zones, on_demand, spot, request.market))
      emit_offering(one, config_.region, op);
  });
}

void Ec2Set::price_history(const hostler_price_req& request, hostler_op* op) {
  const std::string type = text(request.type->provider_type);
  const auto emit = [&](const std::string& where, std::int64_t start, std::int64_t micros,
                        std::uint32_t market) {
    auto out = driver::price_record();
    out.zone = str(where);
    out.start_unix_ns = start;
    out.price_micros_per_hour = micros;
    out.market = market;
    driver::emit(op, out);
  };
  if (request.market != HOSTLER_MARKET_SPOT) {
    const auto prices = read_on_demand_prices();
    if (const auto found = prices.find(type); found != prices.end())
      emit("", request.since_unix_ns, found->second, HOSTLER_MARKET_ON_DEMAND);
  }
  if (request.market == HOSTLER_MARKET_ON_DEMAND) return;
  with_context("ask for prices of " + type, [&] {
    for (const SpotPrice& one : spot_prices_.history(type, request.since_unix_ns, op))
      if (one.type == type)
        emit(one.zone, one.start_unix_ns, one.micros_per_hour, HOSTLER_MARKET_SPOT);
  });
}

void Ec2Set::quota_group(const hostler_quota_group_req& request, hostler_op* op) {
  const std::string name = quota_group_of(driver::view(request.type->provider_type), request.market,
                                          config_.quota_groups);
  if (name.empty()) return;
  auto out = driver::quota_group_record();
  out.name = str(name);
  driver::emit(op, out);
}

}  // namespace hostler::ec2
