#include "core/dispatch/state/questions/offering_intake.h"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "core/base/text.h"
#include "core/model/gpu_flaw.h"

namespace hostler::dispatch {

using model::CloudOffering;

namespace {

constexpr std::size_t kProviderTypeMax = 200, kZoneNameMax = 63, kArchitectureMax = 63,
                      kCurrencyNameMax = 16;
constexpr std::int32_t kCountMax = 1 << 20;
constexpr std::int64_t kSizeMax = std::int64_t{1} << 50;

bool is_shown(const std::string& text, std::size_t max) {
  return text.size() <= max && is_utf8(text) && printable(text, max + 1) == text;
}

bool is_price(const std::optional<model::Micros>& price) {
  return price && price->value >= 0 && *price <= model::kPriceMax;
}

/// Why the offering cannot be used; empty: it can.
std::string flaw_of(const CloudOffering& one, const std::string& region) {
  if (one.provider_type.empty() || !is_shown(one.provider_type, kProviderTypeMax))
    return "the type has no name that can be shown";
  if (!is_shown(one.zone, kZoneNameMax)) return "the zone has no name that can be shown";
  if (!is_shown(one.architecture, kArchitectureMax))
    return "the architecture has no name that can be shown";
  if (!one.region.empty() && !region.empty() && one.region != region)
    return "it is of another region";
  const auto& r = one.resources;
  const auto is_count = [](std::int64_t n) { return n >= 0 && n <= kCountMax; };
  const auto is_size = [](std::int64_t n) { return n >= 0 && n <= kSizeMax; };
  if (!is_count(r.vcpus.whole()) || !is_count(r.gpus) || !is_size(r.ram) || !is_size(r.scratch))
    return "no instance can have its size";
  if (!model::gpu_flaw(one.gpu_groups, r.gpus).empty())
    return "its groups of gpus are not those of its gpus";
  return {};
}

/// Which types and zones still have room; those that are known go first.
class Room {
 public:
  explicit Room(const OfferedTypes::OfSet& known) {
    for (const auto& [key, one] : known.rows) ++zones_[type_key_of(key)];
  }
  bool take(const OfferedTypes::Key& key) {
    const auto found = zones_.find(type_key_of(key));
    if (found == zones_.end() && zones_.size() >= OfferedTypes::kTypesMax) return false;
    auto& zones = found == zones_.end() ? zones_[type_key_of(key)] : found->second;
    if (zones >= OfferedTypes::kZonesMax) return false;
    ++zones;
    return true;
  }

 private:
  std::map<OfferedTypeKey, std::size_t> zones_;
};

}  // namespace

OfferedTypeKey type_key_of(const OfferedTypes::Key& key) {
  return {std::get<0>(key), std::get<1>(key)};
}

std::string Intake::text() const {
  std::string out;
  for (const auto& [why, count] : flaws)
    out += (out.empty() ? "" : "; ") + std::to_string(count) + " ignored: " + why;
  return out;
}

Intake take_in(const std::string& region, const OfferedTypes::OfSet& known,
               const std::vector<CloudOffering>& answer) {
  Intake out;
  Room room(known);
  const std::size_t read = std::min(answer.size(), OfferedTypes::kRecordsMax);
  if (read < answer.size())
    out.flaws["more than " + std::to_string(OfferedTypes::kRecordsMax) + " offerings"] =
        answer.size() - read;
  for (std::size_t i = 0; i < read; ++i) {
    const CloudOffering& one = answer[i];
    if (auto flaw = flaw_of(one, region); !flaw.empty()) {
      ++out.flaws[flaw];
      continue;
    }
    OfferedTypes::Key key{one.provider_type, one.market, one.zone};
    if (out.good.contains(key))
      ++out.flaws["it is there twice"];
    else if (!known.rows.contains(key) && !room.take(key))
      ++out.flaws["more than " + std::to_string(OfferedTypes::kTypesMax) + " types or " +
                  std::to_string(OfferedTypes::kZonesMax) + " zones of one"];
    else
      out.good.emplace(std::move(key), &one);
  }
  for (const auto& [key, one] : out.good)
    if (one->price_per_hour && !is_price(one->price_per_hour))
      ++out.flaws["no price is so high or below 0"];
  return out;
}

model::OfferedRow merged_row(model::OfferedRow row, const CloudOffering& said,
                             const std::string& currency) {
  const auto& size = said.resources;
  if (size.vcpus > 0) row.resources.vcpus = size.vcpus;
  if (size.ram > 0) row.resources.ram = size.ram;
  if (!said.gpu_groups.empty() || row.resources.gpus != size.gpus) row.gpu_groups = said.gpu_groups;
  row.resources.gpus = size.gpus;
  row.resources.scratch = size.scratch;
  if (!said.architecture.empty()) row.architecture = said.architecture;
  row.available = said.available;
  if (is_price(said.price_per_hour)) {
    row.has_price = true;
    row.price_per_hour = *said.price_per_hour;
    row.currency = printable(currency, kCurrencyNameMax);
  }
  return row;
}

}  // namespace hostler::dispatch
