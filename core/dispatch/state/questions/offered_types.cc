#include "core/dispatch/state/questions/offered_types.h"

#include <algorithm>

#include "core/base/text.h"
#include "core/dispatch/state/questions/offering_intake.h"
#include "core/dispatch/state/questions/type_names.h"

namespace hostler::dispatch {

using model::CloudOffering;

namespace {

std::set<OfferedTypeKey> types_of(const OfferedTypes::OfSet& set) {
  std::set<OfferedTypeKey> out;
  for (const auto& [key, known] : set.rows) out.insert(out.end(), type_key_of(key));
  return out;
}

/// The provider types of `all` that are not in `known`; a type of two markets is named twice.
std::vector<std::string> missing_in(const std::set<OfferedTypeKey>& known,
                                    const std::set<OfferedTypeKey>& all) {
  std::vector<std::string> out;
  for (const auto& type : all)
    if (!known.contains(type)) out.push_back(type.first);
  return out;
}

}  // namespace

OfferedTypes::Taken OfferedTypes::take(const Source& from, const std::vector<CloudOffering>& answer,
                                       const std::set<std::string>& in_use, Wall now) {
  Taken out;
  OfSet& set = sets_[from.set];
  const Intake intake = take_in(from.region, set, answer);
  set.ignored = intake.text();
  if (intake.good.empty() && !set.rows.empty()) {
    out.is_doubted = true;
    return out;
  }
  const auto before = types_of(set);
  for (auto at = set.rows.begin(); at != set.rows.end();) {
    Known& known = at->second;
    const bool was_omitted = std::exchange(known.omitted, !intake.good.contains(at->first));
    if (known.omitted && was_omitted) {
      auto& row = known.row;
      if (in_use.contains(row.name)) {  // Hosts of it go on; no more are bought.
        if (std::exchange(row.available, model::Availability::kNo) != model::Availability::kNo)
          out.changes.emplace_back(row);
        ++at;
        continue;
      }
      out.changes.emplace_back(
          model::OfferedGone{row.set, row.provider_type, row.market, row.zone});
      at = set.rows.erase(at);
      continue;
    }
    out.omits |= known.omitted;
    ++at;
  }
  for (const auto& [key, said] : intake.good) {
    const auto [at, is_new] = set.rows.try_emplace(key);
    model::OfferedRow& row = at->second.row;
    if (is_new) {
      row.set = from.set;
      std::tie(row.provider_type, row.market, row.zone) = key;
    }
    auto fresh = merged_row(row, *said, from.currency);
    if (!is_new && fresh == row) continue;
    row = std::move(fresh);
    out.changes.emplace_back(row);
  }
  const auto after = types_of(set);
  out.came = missing_in(before, after);
  out.left = missing_in(after, before);
  set.fetched = now;
  return out;
}

std::vector<model::OfferedGone> OfferedTypes::restore(const std::vector<model::OfferedRow>& rows,
                                                      const model::SitePolicy& policy) {
  std::vector<model::OfferedGone> unwanted;
  for (const auto& row : rows) {
    if (std::ranges::find(policy.sets, row.set, &model::SetPolicy::name) == policy.sets.end())
      unwanted.push_back({row.set, row.provider_type, row.market, row.zone});
    else
      sets_[row.set].rows[{row.provider_type, row.market, row.zone}] = {row};
  }
  return unwanted;
}

OfferedTypes::Settled OfferedTypes::settle_names(const model::SitePolicy& configured) {
  std::set<std::string> names;
  for (const auto& type : configured.types) names.insert(type.name);
  std::set<std::string> taken = names;
  struct Type {
    std::string before, name;  ///< Empty: none.
    std::vector<model::OfferedRow*> rows;
  };
  std::vector<Type> all;
  for (auto& [name, set] : sets_) {
    std::map<OfferedTypeKey, Type> types;
    for (auto& [key, known] : set.rows) types[type_key_of(key)].rows.push_back(&known.row);
    for (auto& [key, type] : types) {
      for (const auto* row : type.rows)
        if (is_name(row->name) && (type.before.empty() || row->name < type.before))
          type.before = row->name;
      if (!type.before.empty() && taken.insert(type.before).second) type.name = type.before;
      all.push_back(std::move(type));
    }
  }
  Settled out;
  for (auto& [before, name, rows] : all) {
    const auto& first = *rows.front();
    if (name.empty()) {
      taken.insert(name = name_for(first.set, first.provider_type, first.market, taken));
      if (names.contains(before)) out.renamed[{first.set, before}] = name;
    }
    for (auto* row : rows)
      if (std::exchange(row->name, name) != name) out.rows.push_back(*row);
  }
  return out;
}

void OfferedTypes::reload(const model::SitePolicy& policy, Mono now) {
  asked_.clear();
  for (std::uint32_t i = 0; i < policy.sets.size(); ++i) {
    const bool is_asked = std::ranges::any_of(policy.pools, [&](const auto& pool) {
      return pool.selector && std::ranges::find(pool.sets, policy.sets[i].name) != pool.sets.end();
    });
    if (!is_asked) continue;
    asked_.insert(i);
    OfSet& set = sets_[policy.sets[i].name];
    if (!set.awaited_until) set.awaited_until = now + kAwaitedFor;
  }
}

const OfferedTypes::OfSet* OfferedTypes::find(const std::string& set) const {
  const auto found = sets_.find(set);
  return found == sets_.end() ? nullptr : &found->second;
}

bool OfferedTypes::is_unknown(const std::string& name) const {
  const OfSet* set = find(name);
  return set == nullptr || (set->fetched.us == 0 && set->rows.empty());
}

bool OfferedTypes::is_awaited(const std::string& name, Mono now) const {
  const OfSet* set = find(name);
  return is_unknown(name) && set != nullptr && set->awaited_until && now < *set->awaited_until;
}

bool OfferedTypes::is_unavailable(const model::InstanceType& type, const std::string& zone) const {
  if (type.only_in.empty()) return false;
  const OfSet* set = find(type.only_in);
  if (set == nullptr) return false;
  const auto found = set->rows.find({type.provider_type, type.market, zone});
  return found != set->rows.end() && found->second.row.available == model::Availability::kNo;
}

std::size_t OfferedTypes::count_types(const std::string& set) const {
  const OfSet* found = find(set);
  return found == nullptr ? 0 : types_of(*found).size();
}

}  // namespace hostler::dispatch
