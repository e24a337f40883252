#include "core/dispatch/state/questions/images.h"

#include <algorithm>
#include <utility>

namespace hostler::dispatch {

Images::Images(const model::SitePolicy& policy) : policy_(policy), by_set_(wanted()) {}

/// Those of which something may be created.
std::vector<Images::Queries> Images::wanted() const {
  const model::InstanceType any;
  std::vector<Queries> out(policy_.sets.size());
  for (const auto& pool : policy_.pools)
    for (std::size_t set = 0; set < policy_.sets.size(); ++set) {
      if (std::ranges::find(pool.sets, policy_.sets[set].name) == pool.sets.end()) continue;
      if (pool.selector)  // Types that it will choose.
        if (const auto& query = model::image_query_of(pool, any, policy_.sets[set]))
          out[set].try_emplace(*query);
      for (const auto& type : policy_.types) {
        if (!type.only_in.empty()) continue;  // The pool chose it: as above.
        if (std::ranges::find(pool.types, type.name) == pool.types.end()) continue;
        if (const auto& query = model::image_query_of(pool, type, policy_.sets[set]))
          out[set].try_emplace(*query);
      }
    }
  return out;
}

std::vector<model::ImageForgotten> Images::restore(const std::vector<model::ImageRow>& rows,
                                                   Now now) {
  std::vector<model::ImageForgotten> unwanted;
  for (const auto& row : rows) {
    FoundImage* to = nullptr;
    for (std::size_t set = 0; set < by_set_.size(); ++set)
      for (auto& [query, found] : by_set_[set])
        if (policy_.sets[set].name == row.set && model::to_string(query) == row.query) to = &found;
    if (to == nullptr) {
      unwanted.push_back({row.set, row.query});
      continue;
    }
    to->image = row.image;
    to->found = to->stored = std::min(row.found, now.wall);
  }
  return unwanted;
}

std::vector<model::ImageForgotten> Images::reload() {
  std::vector<model::ImageForgotten> unwanted;
  auto fresh = wanted();
  for (std::size_t set = 0; set < by_set_.size(); ++set)
    for (auto& [query, found] : by_set_[set]) {
      const auto still = fresh[set].find(query);
      if (still != fresh[set].end())
        still->second = std::move(found);
      else if (found.image)
        unwanted.push_back({policy_.sets[set].name, model::to_string(query)});
    }
  by_set_ = std::move(fresh);
  return unwanted;
}

std::vector<model::ImageForgotten> Images::forget(std::uint32_t set) {
  std::vector<model::ImageForgotten> gone;
  for (auto& [query, found] : of(set)) {
    if (found.image) gone.push_back({policy_.sets[set].name, model::to_string(query)});
    found = {};
  }
  return gone;
}

const FoundImage* Images::find(const std::optional<model::ImageQuery>& query,
                               std::uint32_t set) const {
  if (!query) return nullptr;
  const auto found = of(set).find(*query);
  return found == of(set).end() ? nullptr : &found->second;
}

const std::string& Images::id_for(std::uint32_t set, std::uint32_t pool, std::uint32_t type) const {
  static const std::string kNone;
  const auto& query =
      model::image_query_of(policy_.pools[pool], policy_.types[type], policy_.sets[set]);
  if (!query) return model::image_of(policy_.pools[pool], policy_.types[type]);
  const FoundImage* found = find(query, set);
  return found != nullptr && found->image ? found->image->id : kNone;
}

std::string Images::refuses(std::uint32_t set, std::uint32_t pool, std::uint32_t type) const {
  const auto& query =
      model::image_query_of(policy_.pools[pool], policy_.types[type], policy_.sets[set]);
  const FoundImage* found = find(query, set);
  if (!query || (found != nullptr && found->image)) return {};
  const std::string text = model::to_string(*query) + " in set " + policy_.sets[set].name;
  if (found == nullptr || found->error.empty()) return "the image is still looked up: " + text;
  return "no image was found for " + text + ": " + found->error;
}

}  // namespace hostler::dispatch
