#include <algorithm>
#include <array>

#include "core/config/readers.h"

namespace hostler::config {
namespace {

constexpr std::array kMarkets{
    json::Word<model::Market>{"on_demand", model::Market::kOnDemand},
    json::Word<model::Market>{"spot", model::Market::kSpot},
};

void read_zones(const json::Field& field, std::vector<std::string>& out) {
  std::set<std::string> taken;
  field.each(100, [&](const json::Field& element) {
    std::string zone;
    if (!element.text(zone, {.bytes_max = 63, .bytes_min = 1, .one_line = true})) return;
    claim_name(element, zone, taken);
    out.push_back(std::move(zone));
  });
}

void read_type(json::Object& o, model::InstanceType& out) {
  o.need("name").name(out.name);
  out.provider_type = out.name;
  o.may("provider_type")
      .text(out.provider_type, {.bytes_max = 200, .bytes_min = 1, .one_line = true});
  o.need("vcpus").integer(out.resources.vcpus, 1, 1 << 20);
  o.need("ram").size(out.resources.ram, 1, kBytesMax);
  o.may("scratch").size(out.resources.scratch, 0, kBytesMax);
  o.may("added_scratch").size(out.added_scratch, 0, kBytesMax);
  out.resources.scratch = std::min(out.resources.scratch + out.added_scratch, kBytesMax);
  o.may("gpus").integer(out.resources.gpus, 0, 1 << 20);
  o.need("price").millionths(out.price_per_hour.value, 0, kPriceMax);
  o.may("market").word(out.market, kMarkets);
  read_zones(o.may("zones"), out.zones);
  o.may("quota_group").text(out.quota_group, {.bytes_max = 63, .one_line = true});
  read_image_or_id(o, out.image, out.image_id);
  read_place(o, out);
  o.may("provider_params").object_text(out.provider_params_json, std::size_t{16} * 1024);
}

}  // namespace

void read_cloud_names(const json::Field& field, std::vector<std::string>& out) {
  std::set<std::string> taken;
  field.each(20, [&](const json::Field& element) {
    std::string name;
    if (!element.text(name, {.bytes_max = 255, .bytes_min = 1, .one_line = true})) return;
    claim_name(element, name, taken);
    out.push_back(std::move(name));
  });
}

void read_ceilings(const json::Field& field, model::Ceilings& out) {
  field.object([&](json::Object& o) {
    o.may("instances_max").integer(out.instances_max, 0, kInstancesMax);
    o.may("price_per_hour_max").millionths(out.price_per_hour_max.value, 0, kPriceMax);
    o.may("creates_per_minute_max").integer(out.creates_per_minute_max, 0, kInstancesMax);
    o.may("destroys_per_decision_max").integer(out.destroys_per_decision_max, 0, kInstancesMax);
  });
}

void read_types(const json::Field& field, std::vector<model::InstanceType>& out) {
  std::set<std::string> names;
  field.each(1000, [&](const json::Field& element) {
    element.object([&](json::Object& o) {
      read_type(o, out.emplace_back());
      claim_name(o.may("name"), out.back().name, names);
    });
  });
}

}  // namespace hostler::config
