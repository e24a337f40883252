#include "core/dispatch/handlers/type_changes.h"

#include <utility>

namespace hostler::dispatch {

void TypeChanges::restore(const model::Restored& restored) {
  offered_.restore(restored.offered, configured_);
  offered_.reload(configured_);
  std::set<std::string> types;
  for (const auto& row : restored.instances) types.insert(row.record.type);
  renamed_ = offered_.settle_names(configured_);
  effective_ = select_types(configured_, offered_, types);
  plan_.reload(effective_.site);
}

void TypeChanges::restored() {
  for (auto& row : std::exchange(renamed_, {})) recorder_.change(std::move(row));
}

void TypeChanges::reload() {
  offered_.reload(configured_);
  journal_names();
  effective_ = select_types(configured_, offered_, in_use());
}

void TypeChanges::refresh(Now now) {
  journal_names();
  auto fresh = select_types(configured_, offered_, in_use());
  effective_.selections = std::move(fresh.selections);
  plan_.want();  // Something may have become available.
  if (fresh.site == effective_.site) return;
  effective_.site = std::move(fresh.site);
  menu_.rebuild();
  for (const auto id : hosts_.ids()) {
    auto& instance = hosts_.change(id)->instance;
    instance.type = menu_.type_index(instance.record.type);
  }
  plan_.reload(effective_.site);
  for (std::uint32_t i = 0; i < sets_.size(); ++i)
    if (Set& set = sets_.at(i); set.open && set.has_quota_groups) set.groups_at = now.mono;
}

std::set<std::string> TypeChanges::in_use() const {
  std::set<std::string> out;
  for (const auto& [id, host] : hosts_.all()) out.insert(host.instance.record.type);
  return out;
}

void TypeChanges::journal_names() {
  for (auto& row : offered_.settle_names(configured_)) recorder_.change(std::move(row));
}

}  // namespace hostler::dispatch
