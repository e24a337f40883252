#include "core/dispatch/state/ram_reports.h"

#include <algorithm>

namespace hostler::dispatch {
namespace {

constexpr std::int64_t kSteps = 256;  ///< Of the menu's RAM: reports are kept in such steps.

}  // namespace

void RamReports::restore(model::RamReport report) {
  if (reports_.size() < kReportsMax)
    reports_.insert_or_assign({report.set, report.type}, std::move(report));
}

std::optional<model::RamReport> RamReports::take(const std::string& set,
                                                 const model::InstanceType& type,
                                                 model::InstanceId host, std::int64_t ram) {
  if (ram <= 0 || is_too_little(type, ram)) return std::nullopt;
  const std::pair key(set, type.name);
  const std::int64_t now = expected(set, type);
  if (ram > now) {
    const auto higher = reports_.contains(key) ? raised(key, host, ram) : std::nullopt;
    if (!higher) return std::nullopt;
    ram = std::min(type.resources.ram, *higher);
  } else {
    more_.erase(key);
    if (ram == now) return std::nullopt;
  }
  // Rounded down, so that a host cannot make a row of each byte; not to too little.
  ram -= ram % std::max<std::int64_t>(1, type.resources.ram / kSteps);
  ram = std::max(ram, type.resources.ram - type.resources.ram / 2);
  model::RamReport fresh{set, type.name, type.resources.ram, ram};
  if (reports_.size() >= kReportsMax && !reports_.contains(key)) return std::nullopt;
  reports_.insert_or_assign(key, fresh);
  return fresh;
}

/// What plans may count with if this is the last of enough hosts that had more.
std::optional<std::int64_t> RamReports::raised(const std::pair<std::string, std::string>& key,
                                               model::InstanceId host, std::int64_t ram) {
  constexpr std::size_t kHostsInARow = 10;
  More& more = more_[key];
  more.hosts.insert(host);
  more.least = std::min(more.least, ram);
  if (more.hosts.size() < kHostsInARow) return std::nullopt;
  const std::int64_t out = more.least;
  more_.erase(key);
  return out;
}

std::int64_t RamReports::expected(const std::string& set, const model::InstanceType& type) const {
  const auto known = reports_.find({set, type.name});
  if (known == reports_.end() || known->second.menu_ram != type.resources.ram ||
      is_too_little(type, known->second.ram))
    return type.resources.ram;
  return std::min(type.resources.ram, known->second.ram);
}

std::vector<model::RamForgotten> RamReports::settle(const model::SitePolicy& policy) {
  std::map<std::string, std::int64_t> menu;
  for (const auto& type : policy.types) menu.emplace(type.name, type.resources.ram);
  const bool is_full = reports_.size() >= kReportsMax;
  std::vector<model::RamForgotten> out;
  std::erase_if(reports_, [&](const auto& entry) {
    const auto& report = entry.second;
    const auto on_menu = menu.find(report.type);
    const bool stays = on_menu == menu.end() ? !is_full : on_menu->second == report.menu_ram;
    if (!stays) out.push_back({report.set, report.type});
    return !stays;
  });
  return out;
}

}  // namespace hostler::dispatch
