#include "core/dispatch/handlers/questions/type_changes.h"

#include <utility>

namespace hostler::dispatch {

void TypeChanges::restore(model::Restored& restored, Now now) {
  for (auto& gone : offered_.restore(restored.offered, configured_))
    changes_.emplace_back(std::move(gone));
  offered_.reload(configured_, now.mono);
  auto settled = offered_.settle_names(configured_);
  for (auto& row : settled.rows) changes_.emplace_back(std::move(row));
  std::set<std::string> types;
  for (auto& [record, create, is_over] : restored.instances) {
    const auto renamed = settled.renamed.find({record.set, record.type});
    if (renamed != settled.renamed.end()) {
      record.type = renamed->second;
      moved_.push_back(record.id);
    }
    types.insert(record.type);
  }
  effective_ = select_types(configured_, offered_, types);
  boots_.types_changed();
  plan_.reload(effective_.site);
}

void TypeChanges::restored() {
  for (auto& change : std::exchange(changes_, {})) recorder_.change(std::move(change));
  for (const auto id : std::exchange(moved_, {}))
    if (const Host* host = hosts_.find(id))
      recorder_.change(model::InstanceChanged{host->instance.record, nullptr, false});
}

void TypeChanges::reload(Now now) {
  offered_.reload(configured_, now.mono);
  settle_names();
  effective_ = select_types(configured_, offered_, in_use());
}

void TypeChanges::refresh(Now now) {
  settle_names();
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
  boots_.types_changed();
  plan_.reload(effective_.site);
  for (std::uint32_t i = 0; i < sets_.size(); ++i)
    if (Set& set = sets_.at(i); set.is_open()) set.quota_groups.types_changed(now.mono);
}

std::set<std::string> TypeChanges::in_use() const {
  std::set<std::string> out;
  for (const auto& [id, host] : hosts_.all()) out.insert(host.instance.record.type);
  return out;
}

/// Where the configuration takes the name of a type, its hosts follow the type, not the name: they
/// are not like the one that the configuration describes.
void TypeChanges::settle_names() {
  auto settled = offered_.settle_names(configured_);
  for (auto& row : settled.rows) recorder_.change(std::move(row));
  if (settled.renamed.empty()) return;
  for (const auto id : hosts_.ids()) {
    const auto& known = hosts_.find(id)->instance.record;
    const auto renamed = settled.renamed.find({known.set, known.type});
    if (renamed == settled.renamed.end()) continue;
    auto& record = hosts_.change(id)->instance.record;
    record.type = renamed->second;
    recorder_.change(model::InstanceChanged{record, nullptr, false});
  }
}

}  // namespace hostler::dispatch
