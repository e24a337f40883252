#include <algorithm>
#include <string_view>
#include <utility>

#include "core/fleet/occupancy.h"

/// Which cards of the host are free, and which of them work gets.
namespace hostler::fleet {
namespace {

/// Of all attempts that a host reports: one that tells the truth reports each of its cards once.
constexpr std::size_t kReportedMax = std::size_t{4} * model::kCardsMax;

/// Work has cards of which nobody has told which they are: it may use any.
bool has_unnamed(const Occupancy& occupancy) {
  return std::ranges::any_of(occupancy.attempts(), [&](const PlacedAttempt& one) {
    return !one.collecting && one.needs.gpus > 0 && one.cards.empty() &&
           occupancy.reported_cards(one.attempt).empty();
  });
}

std::vector<FreeCard> free_cards_of(const Occupancy& occupancy, const model::InstanceType& type) {
  const bool is_claimed = std::ranges::any_of(
      occupancy.claims(), [](const Claim& claim) { return claim.whole || claim.needs.gpus > 0; });
  if (is_claimed || has_unnamed(occupancy)) return {};
  std::set<std::string> held;
  for (const auto& [uuid, attempt] : occupancy.holders()) held.insert(uuid);
  return free_cards(occupancy.cards(), type, held, type.resources.gpus - occupancy.used().gpus);
}

}  // namespace

void Occupancy::report_attempts(const std::vector<model::AttemptReport>& attempts) {
  reported_.clear();
  std::size_t left = kReportedMax;
  for (const auto& one : attempts) {
    if (one.phase != model::AttemptPhase::kRunning || one.cards.empty()) continue;
    std::set<std::string_view> seen;  // A host may list one twice, and a row may not.
    auto& its = reported_[one.attempt];
    its.clear();
    for (const auto& uuid : one.cards) {
      if (left == 0) break;
      if (!seen.insert(uuid).second) continue;
      its.push_back(uuid);
      --left;
    }
  }
}

std::vector<std::string> Occupancy::reported_cards(const model::AttemptId& attempt) const {
  const auto found = reported_.find(attempt);
  return found == reported_.end() ? std::vector<std::string>{} : found->second;
}

std::map<std::string, model::AttemptId> Occupancy::holders() const {
  std::map<std::string, model::AttemptId> out;
  for (const auto& one : attempts_) {
    if (one.collecting) continue;
    for (const auto& uuid : one.cards) out.emplace(uuid, one.attempt);
  }
  for (const auto& [attempt, cards] : reported_)
    for (const auto& uuid : cards) out.emplace(uuid, attempt);
  return out;
}

model::GpuGroups Occupancy::free_groups(const model::InstanceType& type) const {
  if (cards_.has_told()) return groups_of(free_cards_of(*this, type));
  if (is_lent()) return {};
  // Nobody knows of which group those are that are in use: each group may have lost all of them.
  model::GpuGroups out = type.gpu_groups;
  if (out.empty()) out.push_back({{}, 0, type.resources.gpus});
  for (auto& group : out) group.count -= used_.gpus;
  std::erase_if(out, [](const model::GpuGroup& group) { return group.count <= 0; });
  return out;
}

std::optional<std::vector<std::string>> Occupancy::choose_cards(const model::InstanceType& type,
                                                                std::int32_t count,
                                                                const model::GpuWish& wish) const {
  std::vector<std::string> out;
  if (count == 0) return out;
  const auto groups = free_groups(type);
  const auto picked = model::pick_group(groups, wish, count);
  if (!picked) return std::nullopt;
  if (!cards_.are_known()) return out;
  const auto& chosen = groups[*picked];
  for (const FreeCard& one : free_cards_of(*this, type))
    if (one.group.kind == chosen.kind && one.group.memory == chosen.memory &&
        std::ssize(out) < count)
      out.push_back(one.card->uuid);
  return out;
}

}  // namespace hostler::fleet
