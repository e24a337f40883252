#include "offerings.h"

#include <hostler/driver.hpp>

#include <cstdlib>
#include <utility>

namespace hostler::ec2 {
namespace {

std::uint64_t number_at(const Node& node, const char* path) {
  return std::strtoull(text_at(node, path).c_str(), nullptr, 10);
}

std::uint32_t small(std::uint64_t number) {
  return number > 1'000'000 ? 0 : static_cast<std::uint32_t>(number);
}

bool has(const Node& list, std::string_view value) {
  for (const Node& item : list.children("item"))
    if (item.child_value() == value) return true;
  return false;
}

void add_gpus(const Node& device, InstanceType& to) {
  constexpr std::uint64_t kMiBMax = std::uint64_t{1} << 30;
  const std::uint32_t count = small(number_at(device, "count"));
  if (count == 0) return;
  const std::uint64_t mib = number_at(device, "memoryInfo/sizeInMiB");
  const GpuGroup read{driver::gpu_kind(text_at(device, "name")), mib > kMiBMax ? 0 : mib << 20,
                      count};
  to.gpus += count;
  for (GpuGroup& known : to.gpu_groups)
    if (known.kind == read.kind && known.memory_bytes == read.memory_bytes) {
      known.count += count;
      return;
    }
  to.gpu_groups.push_back(read);
}

}  // namespace

std::string architecture_of(std::string_view name) {
  return name == "arm64" ? "aarch64" : name == "x86_64" ? "x86_64" : "";
}

InstanceType read_instance_type(const Node& item) {
  InstanceType out;
  out.name = text_of(item, "instanceType");
  if (out.name.empty()) throw_not_amazon("a type without a name");
  out.vcpus = small(number_at(item, "vCpuInfo/defaultVCpus"));
  out.ram_bytes = number_at(item, "memoryInfo/sizeInMiB") << 20;
  out.scratch_bytes = number_at(item, "instanceStorageInfo/totalSizeInGB") * 1'000'000'000;
  for (const Node& gpu : item.child("gpuInfo").child("gpus").children("item")) add_gpus(gpu, out);
  const Node architectures = item.child("processorInfo").child("supportedArchitectures");
  for (const Node& one : architectures.children("item"))
    if (out.architecture.empty()) out.architecture = architecture_of(one.child_value());
  const Node classes = item.child("supportedUsageClasses");
  out.on_demand = has(classes, "on-demand");
  out.spot = has(classes, "spot");
  return out;
}

std::vector<Offered> offered(const std::vector<InstanceType>& types,
                             const std::map<std::string, std::vector<std::string>>& zones,
                             const std::map<std::string, std::int64_t>& on_demand,
                             const std::vector<SpotPrice>& spot, std::uint32_t market) {
  std::map<std::pair<std::string, std::string>, std::int64_t> spot_prices;
  for (const SpotPrice& one : spot) spot_prices[{one.type, one.zone}] = one.micros_per_hour;
  std::vector<Offered> out;
  for (const InstanceType& type : types) {
    const auto where = zones.find(type.name);
    if (type.architecture.empty() || where == zones.end()) continue;
    for (const std::string& zone : where->second) {
      if (type.on_demand && market != HOSTLER_MARKET_SPOT) {
        const auto price = on_demand.find(type.name);
        out.push_back(
            {&type, zone, HOSTLER_MARKET_ON_DEMAND, price == on_demand.end() ? -1 : price->second});
      }
      if (type.spot && market != HOSTLER_MARKET_ON_DEMAND) {
        const auto price = spot_prices.find({type.name, zone});
        out.push_back(
            {&type, zone, HOSTLER_MARKET_SPOT, price == spot_prices.end() ? -1 : price->second});
      }
    }
  }
  return out;
}

}  // namespace hostler::ec2
