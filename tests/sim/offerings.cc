#include "tests/sim/offerings.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <variant>

#include "tests/sim/world.h"

namespace hostler::sim {
namespace {

using model::CloudOffering;
using model::Market;

constexpr std::int64_t kGiBytes = std::int64_t{1} << 30;
constexpr std::int64_t kDearest = 1'000'000'000'000;

CloudOffering offered(const std::string& type, std::int32_t vcpus, Market market,
                      const std::string& zone, std::int64_t price) {
  CloudOffering out;
  out.provider_type = type;
  out.zone = zone;
  out.resources = {.vcpus = vcpus, .gpus = 0, .ram = vcpus * 2 * kGiBytes, .scratch = 0};
  out.price_per_hour = model::Micros{price};
  out.market = market;
  out.available = model::Availability::kYes;
  return out;
}

std::string name_of(const std::string& provider_type, Market market) {
  return provider_type + (market == Market::kSpot ? "-spot" : "");
}

bool is_possible(const CloudOffering& one) {
  return !one.provider_type.empty() && one.provider_type.size() < 100 &&
         std::ranges::all_of(one.provider_type, [](char c) { return c > ' ' && c < '\x7f'; }) &&
         one.resources.vcpus > 0 && one.resources.vcpus < 1000 && one.resources.ram > 0 &&
         one.resources.ram < (std::int64_t{1} << 50);
}

bool is_possible_price(const CloudOffering& one) {
  return one.price_per_hour && one.price_per_hour->value >= 0 &&
         one.price_per_hour->value <= kDearest;
}

}  // namespace

void Offerings::choose(model::SitePolicy& policy) const {
  policy.types.clear();
  policy.sets.front().offerings_interval = 30s;
  auto& pool = policy.pools.front();
  pool.types.clear();
  pool.selector.emplace().market.reset();
}

Duration Offerings::delay() {
  return 1ms * static_cast<std::int64_t>(1 + random_.below(random_.chance(0.1) ? 30'000 : 500));
}

std::vector<CloudOffering> Offerings::truth() {
  std::vector<CloudOffering> out;
  const auto price = [&](std::int64_t usual) {
    return usual / 2 + static_cast<std::int64_t>(random_.below(static_cast<std::uint64_t>(usual)));
  };
  for (const char* zone : {"z1", "z2"}) {
    out.push_back(offered("small", 2, Market::kOnDemand, zone, price(100)));
    out.push_back(offered("large", 8, Market::kOnDemand, zone, price(400)));
    out.push_back(offered("medium", 4, Market::kSpot, zone, price(60)));
  }
  return out;
}

void Offerings::lie(std::vector<CloudOffering>& all) {
  const auto any = [&]() -> CloudOffering& { return all[random_.below(all.size())]; };
  switch (random_.below(8)) {
    case 0:
      return all.clear();
    case 1:
      return (void)std::erase_if(all, [&](const auto&) { return random_.chance(0.5); });
    case 2:
      for (std::size_t n = all.size(); n > 0; --n) all.push_back(all[n - 1]);
      return;
    case 3:  // Sizes that are not known: the daemon cannot choose by them.
      for (int i = 0; i < 2500; ++i)
        all.push_back(offered("t" + std::to_string(i), 0, Market::kOnDemand, "z1", 1));
      return;
    case 4:
      any().price_per_hour = model::Micros{-1'000'000};
      any().price_per_hour = model::Micros{std::numeric_limits<std::int64_t>::max()};
      return;
    case 5:
      any().provider_type = "odd\x1b[2J\n\xff";
      any().resources.ram = std::numeric_limits<std::int64_t>::max();
      any().resources.vcpus = -5;
      return;
    default:
      for (auto& one : all)
        if (random_.chance(0.4)) one.available = model::Availability::kNo;
  }
}

dispatch::OfferingsFetched Offerings::answer(const dispatch::OfferingsCall& call) {
  using enum model::CloudErrorClass;
  if (chance_.faults() && random_.chance(0.2)) {
    model::CloudError error;
    error.cls = random_.chance(0.5) ? kTransient : random_.chance(0.5) ? kRateLimit : kInternal;
    error.message = "not now";
    return {call.set, call.number, tl::unexpected(error)};
  }
  auto all = truth();
  if (chance_.faults() && random_.chance(0.4)) lie(all);
  for (const auto& one : all) {
    if (!is_possible_price(one)) continue;
    const Key key{one.provider_type, one.market, one.zone};
    const std::int64_t price = one.price_per_hour->value;
    const auto [least, fresh] = least_said_.try_emplace(key, price);
    if (!fresh) least->second = std::min(least->second, price);
  }
  return {call.set, call.number, std::move(all)};
}

void Offerings::restarted(const dispatch::Queries& queries) {
  last_said_.clear();
  last_.clear();
  before_.clear();
  priced_.clear();
  std::set<std::string> types;
  for (const auto& type : queries.policy().types) types.insert(type.name);
  for (const auto& row : disk_.offered())
    if (row.has_price && row.resources.vcpus > 0 && row.resources.ram > 0 &&
        !types.contains(row.name))
      complain_("a restart has forgotten type " + row.name);
}

/// What one of the last two good answers has named is a type. Of a row that is there twice the
/// first counts.
void Offerings::taken(const dispatch::OfferingsFetched& answer, const dispatch::Queries& queries) {
  if (!answer.result || !queries.sets().front().open) return;
  std::set<Key> named, in_answer;
  bool is_empty = true;
  for (const auto& one : *answer.result) {
    const bool is_sized = is_possible(one);
    is_empty = is_empty && !is_sized && !one.provider_type.starts_with("t");
    if (!is_sized) continue;
    const Key key{one.provider_type, one.market, one.zone};
    if (!in_answer.insert(key).second) continue;
    last_said_[key] = one.available;
    if (is_possible_price(one)) priced_.insert(key);
    if (priced_.contains(key)) named.insert(key);
  }
  if (is_empty) return;
  before_ = std::exchange(last_, std::move(named));
  // One that has left and comes back is a type once it has a price again.
  std::erase_if(priced_,
                [this](const Key& key) { return !before_.contains(key) && !last_.contains(key); });
  std::set<std::pair<std::string, std::string>> there;
  for (const auto& type : queries.policy().types)
    for (const auto& zone : type.zones) there.emplace(type.name, zone);
  if (queries.policy().types.size() > 1000) complain_("the menu has no bounds");
  for (const auto* keys : {&before_, &last_})
    for (const auto& [type, market, zone] : *keys)
      if (!there.contains({name_of(type, market), zone}))
        complain_("type " + type + " in " + zone + " has left, and a good answer of late names it");
}

void Offerings::decided(const dispatch::Outbox& outbox) const {
  for (const auto& change : outbox.changes)
    if (const auto* row = model::get_change<model::InstanceChanged>(change); row != nullptr)
      if (row->create) check_bought(row->record);
}

void Offerings::check_bought(const model::InstanceRecord& record) const {
  const std::string type = record.market == Market::kSpot
                               ? record.type.substr(0, record.type.rfind("-spot"))
                               : record.type;
  const Key key{type, record.market, record.zone};
  const auto price = least_said_.find(key);
  if (price == least_said_.end())
    return complain_(record.id.text() + " is of type " + record.type + ", which nobody offers");
  if (record.price_per_hour.value < price->second)
    complain_(record.id.text() + " is booked with less than any answer says");
  const auto said = last_said_.find(key);
  if (said != last_said_.end() && said->second == model::Availability::kNo)
    complain_(record.id.text() + " is bought where the cloud has none");
}

void World::make_offerings() {
  if (!Offerings::is_of(seed_)) return;
  offerings_.emplace(seed_, chance_, disk_, [this](const std::string& what) { complain(what); });
  offerings_->choose(policy_);
  cloud_.sell(*offerings_);
}

std::optional<std::int64_t> Offerings::least_price(const std::string& provider_type, Market market,
                                                   const std::string& zone) const {
  const auto found = least_said_.find({provider_type, market, zone});
  if (found == least_said_.end()) return std::nullopt;
  return found->second;
}

}  // namespace hostler::sim
