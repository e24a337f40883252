#include <algorithm>
#include <array>

#include "core/base/text.h"
#include "core/base/units.h"
#include "core/config/readers.h"
#include "core/json/gpus.h"
#include "core/model/push.h"

namespace hostler::config {
namespace {

constexpr std::array kMarkets{
    json::Word<model::Market>{"on_demand", model::Market::kOnDemand},
    json::Word<model::Market>{"spot", model::Market::kSpot},
};

constexpr std::int32_t kReserveShareMax = 90'00;  ///< Hundredths of a percent.

/// "5", "2.5", "2.25".
std::optional<std::int32_t> parse_hundredths(std::string_view text) {
  const std::size_t point = std::min(text.find('.'), text.size());
  std::string decimals(point < text.size() ? text.substr(point + 1) : "0");
  if (point > 3 || decimals.empty() || decimals.size() > 2) return std::nullopt;
  decimals.resize(2, '0');
  const auto whole = parse_u64(text.substr(0, point)), part = parse_u64(decimals);
  if (!whole || !part) return std::nullopt;
  return static_cast<std::int32_t>(*whole * 100 + *part);
}

void read_zones(const json::Field& field, std::vector<std::string>& out) {
  std::set<std::string> taken;
  field.each(100, [&](const json::Field& element) {
    std::string zone;
    if (!element.text(zone, {.bytes_max = 63, .bytes_min = 1, .one_line = true})) return;
    claim_name(element, zone, taken);
    out.push_back(std::move(zone));
  });
}

/// "512MiB" or "5%".
void read_reserve(const json::Field& field, std::int64_t ram, model::RamReserve& out) {
  std::string text;
  if (!field.text(text, {.bytes_max = 63, .one_line = true})) return;
  const auto size = parse_size(text);
  if (size && *size < std::max<std::int64_t>(ram, 1)) {
    out.bytes = *size;
    return;
  }
  const auto share = text.ends_with('%') ? parse_hundredths(text.substr(0, text.size() - 1))
                                         : std::optional<std::int32_t>();
  if (share && *share <= kReserveShareMax)
    out.share = *share;
  else
    field.refuse(
        "a size below the ram of the type, such as \"512MiB\", or a share of it from "
        "\"0%\" to \"90%\", such as \"5%\" or \"2.25%\"");
}

void read_type(json::Object& o, model::InstanceType& out) {
  o.need("name").name(out.name);
  out.provider_type = out.name;
  o.may("provider_type")
      .text(out.provider_type, {.bytes_max = 200, .bytes_min = 1, .one_line = true});
  std::int32_t vcpus = 0;
  if (o.need("vcpus").integer(vcpus, 1, 1 << 20)) out.resources.vcpus = vcpus;
  o.need("ram").size(out.resources.ram, 1, kBytesMax);
  o.may("scratch").size(out.resources.scratch, 0, kBytesMax);
  o.may("added_scratch").size(out.added_scratch, 0, kBytesMax);
  out.resources.scratch = std::min(out.resources.scratch + out.added_scratch, kBytesMax);
  json::read_gpus(o.may("gpus"), out.resources.gpus, out.gpu_groups);
  out.resources.slots = std::min(out.resources.gpus, model::kSlotsMax);
  o.may("slots").integer(out.resources.slots, 0, model::kSlotsMax);
  o.need("price").millionths(out.price_per_hour.value, 0, kPriceMax);
  o.may("market").word(out.market, kMarkets);
  o.may("jobs_max").integer(out.jobs_max, 1, model::kJobsOnHostMax);
  read_reserve(o.may("reserve"), out.resources.ram, out.reserve);
  read_zones(o.may("zones"), out.zones);
  o.may("quota_group")
      .text(out.quota_group, {.bytes_max = model::kQuotaGroupBytesMax, .one_line = true});
  read_image_or_id(o, out.image, out.image_id);
  read_placement(o, out.placement);
  o.may("provider_params").object_text(out.provider_params_json, std::size_t{16} * 1024);
}

}  // namespace

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
