#include "core/dispatch/state/ram_reports.h"

#include <algorithm>
#include <map>

namespace hostler::dispatch {
namespace {

constexpr std::int64_t kSteps = 256;  ///< Of the menu's RAM: reports are kept in such steps.

}  // namespace

void RamReports::restore(const model::RamReport& report) {
  (void)reports_.put({report.set, report.type}, {report.menu_ram, report.ram});
}

std::optional<model::RamReport> RamReports::take(const std::string& set,
                                                 const model::InstanceType& type,
                                                 model::InstanceId host, std::int64_t ram) {
  if (ram <= 0 || is_too_little(type, ram)) return std::nullopt;
  const std::int64_t menu = type.resources.ram;
  const auto learned = reports_.take({set, type.name}, menu, host, ram);
  if (!learned) return std::nullopt;
  // Rounded down, so that a host cannot make a row of each byte; not to too little.
  ram = *learned - *learned % std::max<std::int64_t>(1, menu / kSteps);
  ram = std::max(ram, menu - menu / 2);
  if (!reports_.put({set, type.name}, {menu, ram})) return std::nullopt;
  return model::RamReport{set, type.name, menu, ram};
}

std::int64_t RamReports::expected(const std::string& set, const model::InstanceType& type) const {
  const std::int64_t ram = reports_.expected({set, type.name}, type.resources.ram);
  return is_too_little(type, ram) ? type.resources.ram : ram;
}

std::vector<model::RamForgotten> RamReports::settle(const model::SitePolicy& policy) {
  std::map<std::string, std::int64_t> menu;
  for (const auto& type : policy.types) menu.emplace(type.name, type.resources.ram);
  std::vector<model::RamForgotten> out;
  for (auto& [set, type] : reports_.settle([&](const Key& key) {
         const auto found = menu.find(key.second);
         return found == menu.end() ? std::nullopt : std::optional(found->second);
       }))
    out.push_back({std::move(set), std::move(type)});
  return out;
}

}  // namespace hostler::dispatch
