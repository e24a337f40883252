#include "core/dispatch/state/offered_types.h"

#include <algorithm>

#include "core/base/text.h"
#include "core/dispatch/state/type_names.h"

namespace hostler::dispatch {

using model::CloudOffering;

namespace {

constexpr std::size_t kProviderTypeMax = 200, kZoneNameMax = 63, kArchitectureMax = 63,
                      kCurrencyNameMax = 16, kIgnoredTold = 5;
constexpr std::int32_t kCountMax = 1 << 20;
constexpr std::int64_t kBytesMax = std::int64_t{1} << 50, kPriceMax = 1'000'000'000'000;

bool is_shown(const std::string& text, std::size_t max) {
  return text.size() <= max && is_utf8(text) && printable(text, max + 1) == text;
}

bool is_price(const std::optional<model::Micros>& price) {
  return price && price->value >= 0 && price->value <= kPriceMax;
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
  const auto is_count = [](std::int32_t n) { return n >= 0 && n <= kCountMax; };
  const auto is_size = [](std::int64_t n) { return n >= 0 && n <= kBytesMax; };
  if (!is_count(r.vcpus) || !is_count(r.gpus) || !is_size(r.ram) || !is_size(r.scratch))
    return "no instance can have its size";
  return {};
}

/// The part of an answer that can be used, and why the rest cannot.
struct Intake {
  std::map<OfferedTypes::Key, const CloudOffering*> good;
  std::map<std::string, std::size_t> flaws;

  [[nodiscard]] std::string text() const {
    std::string out;
    for (const auto& [why, count] : flaws)
      out += (out.empty() ? "" : "; ") + std::to_string(count) + " ignored: " + why;
    return out;
  }
};

using TypeKey = std::pair<std::string, model::Market>;

/// Which types and zones still have room; those that are known go first.
class Room {
 public:
  explicit Room(const OfferedTypes::OfSet& known) {
    for (const auto& [key, one] : known.rows) ++zones_[type_of(key)];
  }
  bool take(const OfferedTypes::Key& key) {
    const auto found = zones_.find(type_of(key));
    if (found == zones_.end() && zones_.size() >= OfferedTypes::kTypesMax) return false;
    auto& zones = found == zones_.end() ? zones_[type_of(key)] : found->second;
    if (zones >= OfferedTypes::kZonesMax) return false;
    ++zones;
    return true;
  }
  static TypeKey type_of(const OfferedTypes::Key& key) {
    return {std::get<0>(key), std::get<1>(key)};
  }

 private:
  std::map<TypeKey, std::size_t> zones_;
};

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

/// What the answer does not say stays as it was known.
model::OfferedRow merged(model::OfferedRow row, const CloudOffering& said,
                         const std::string& currency) {
  const auto& size = said.resources;
  if (size.vcpus > 0) row.resources.vcpus = size.vcpus;
  if (size.ram > 0) row.resources.ram = size.ram;
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

std::set<TypeKey> types_of(const OfferedTypes::OfSet& set) {
  std::set<TypeKey> out;
  for (const auto& [key, known] : set.rows) out.insert(out.end(), Room::type_of(key));
  return out;
}

/// The provider types of `all` that are not in `known`; a type of two markets is named twice.
std::vector<std::string> missing_in(const std::set<TypeKey>& known, const std::set<TypeKey>& all) {
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
    auto fresh = merged(row, *said, from.currency);
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

void OfferedTypes::restore(const std::vector<model::OfferedRow>& rows,
                           const model::SitePolicy& policy) {
  for (const auto& row : rows) {
    if (std::ranges::find(policy.sets, row.set, &model::SetPolicy::name) == policy.sets.end())
      continue;
    sets_[row.set].rows[{row.provider_type, row.market, row.zone}] = {row};
  }
}

std::vector<model::OfferedRow> OfferedTypes::settle_names(const model::SitePolicy& configured) {
  std::set<std::string> taken;
  for (const auto& type : configured.types) taken.insert(type.name);
  using Rows = std::vector<model::OfferedRow*>;
  std::vector<std::pair<std::string, Rows>> nameless;
  for (auto& [name, set] : sets_) {
    std::map<TypeKey, Rows> types;
    for (auto& [key, known] : set.rows) types[Room::type_of(key)].push_back(&known.row);
    for (auto& [type, rows] : types) {
      std::string kept;
      for (const auto* row : rows)
        if (is_name(row->name) && (kept.empty() || row->name < kept)) kept = row->name;
      if (!kept.empty() && !taken.insert(kept).second) kept.clear();
      nameless.emplace_back(std::move(kept), std::move(rows));
    }
  }
  std::vector<model::OfferedRow> changed;
  for (auto& [name, rows] : nameless) {
    const auto& first = *rows.front();
    if (name.empty())
      taken.insert(name = name_for(first.set, first.provider_type, first.market, taken));
    for (auto* row : rows)
      if (std::exchange(row->name, name) != name) changed.push_back(*row);
  }
  return changed;
}

void OfferedTypes::reload(const model::SitePolicy& policy) {
  asked_.clear();
  for (std::uint32_t i = 0; i < policy.sets.size(); ++i) {
    const bool is_asked = std::ranges::any_of(policy.pools, [&](const auto& pool) {
      return pool.selector && std::ranges::find(pool.sets, policy.sets[i].name) != pool.sets.end();
    });
    if (!is_asked) continue;
    asked_.insert(i);
    sets_[policy.sets[i].name].at = {};
  }
}

const OfferedTypes::OfSet* OfferedTypes::find(const std::string& set) const {
  const auto found = sets_.find(set);
  return found == sets_.end() ? nullptr : &found->second;
}

bool OfferedTypes::is_unknown(const model::PoolPolicy& pool) const {
  return pool.selector && std::ranges::any_of(pool.sets, [&](const auto& name) {
           const OfSet* set = find(name);
           return set == nullptr || (set->fetched.us == 0 && set->rows.empty());
         });
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
