#include "core/dispatch/state/gpu_reports.h"

#include <algorithm>
#include <string_view>

namespace hostler::dispatch {
namespace {

/// The groups of the type; one without a kind if the menu has none.
model::GpuGroups groups_on_menu(const model::InstanceType& type) {
  if (!type.gpu_groups.empty() || type.resources.gpus == 0) return type.gpu_groups;
  return {{{}, 0, type.resources.gpus}};
}

bool is_of(const model::Card& card, const model::GpuGroup& group, const model::InstanceType& type) {
  const auto its = fleet::group_of(card, type);
  return its.kind == group.kind && its.memory == group.memory;
}

std::int64_t most_of_one_kind(const std::vector<model::Card>& cards) {
  std::map<std::string_view, std::int64_t> counts;
  std::int64_t most = 0;
  for (const auto& card : cards) most = std::max(most, ++counts[card.kind]);
  return most;
}

/// Of a group of groups_on_menu().
std::int64_t listed_of(const std::vector<model::Card>& cards, const model::GpuGroup& group,
                       const model::InstanceType& type) {
  if (type.gpu_groups.empty()) return most_of_one_kind(cards);
  return std::ranges::count_if(cards, [&](const auto& card) { return is_of(card, group, type); });
}

}  // namespace

void GpuReports::restore(const model::GpuReport& report) {
  (void)reports_.put({report.set, report.type, report.kind, report.memory},
                     {report.menu_count, report.count});
}

std::vector<model::GpuReport> GpuReports::take(const std::string& set,
                                               const model::InstanceType& type,
                                               model::InstanceId host,
                                               const std::vector<model::Card>& cards) {
  std::vector<model::GpuReport> out;
  if (std::ranges::none_of(cards, [&](const auto& card) { return fleet::is_of_type(card, type); }))
    return out;
  for (const auto& group : groups_on_menu(type)) {
    const Key key(set, type.name, group.kind, group.memory);
    const std::int64_t listed = listed_of(cards, group, type);
    if (listed == 0) continue;
    const auto learned = reports_.take(key, group.count, host, listed);
    if (!learned || !reports_.put(key, {group.count, *learned})) continue;
    out.push_back({set, type.name, group.kind, group.memory, group.count,
                   static_cast<std::int32_t>(*learned)});
  }
  return out;
}

bool GpuReports::take_kinds(const std::string& set, const model::InstanceType& type,
                            const fleet::HostCards& cards) {
  const auto is_right = [&](const auto& card) { return fleet::is_of_type(card, type); };
  OwnGroups fresh{type.gpu_groups, fleet::healthy_groups(cards, type)};
  if (fresh.own.empty() || std::ranges::any_of(cards.all(), is_right))
    return own_.erase({set, type.name}) > 0;
  if (own_.size() >= LeastReports<Key>::kReportsMax) own_.clear();
  auto& known = own_[{set, type.name}];
  return std::exchange(known, fresh) != fresh;
}

GpuReports::Expected GpuReports::expected(const std::string& set,
                                          const model::InstanceType& type) const {
  Expected out;
  if (const auto of = own_.find({set, type.name});
      of != own_.end() && of->second.menu == type.gpu_groups) {
    out.groups = of->second.own;
    for (const auto& group : out.groups) out.count += group.count;
    return out;
  }
  for (auto group : groups_on_menu(type)) {
    group.count = static_cast<std::int32_t>(
        reports_.expected({set, type.name, group.kind, group.memory}, group.count));
    out.count += group.count;
    if (group.count > 0) out.groups.push_back(std::move(group));
  }
  return out;
}

std::vector<model::GpuForgotten> GpuReports::settle(const model::SitePolicy& policy) {
  std::map<std::string, std::map<std::pair<std::string, std::int64_t>, std::int64_t>> menu;
  for (const auto& type : policy.types)
    for (const auto& group : groups_on_menu(type))
      menu[type.name][{group.kind, group.memory}] = group.count;
  const auto menu_of = [&](const Key& key) -> std::optional<std::int64_t> {
    const auto& [set, name, kind, memory] = key;
    const auto type = menu.find(name);
    if (type == menu.end()) return std::nullopt;
    const auto group = type->second.find({kind, memory});
    return group == type->second.end() ? 0 : group->second;  // Its groups have changed.
  };
  std::vector<model::GpuForgotten> out;
  for (auto& [set, type, kind, memory] : reports_.settle(menu_of))
    out.push_back({std::move(set), std::move(type), std::move(kind), memory});
  return out;
}

}  // namespace hostler::dispatch
