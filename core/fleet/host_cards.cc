#include "core/fleet/host_cards.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <tuple>

#include "core/base/text.h"

namespace hostler::fleet {

using model::Card;
using model::Event;
using model::GpuGroup;
using model::InstanceType;

namespace {

CardNews news_of(Event event, const Card& card) {
  return {event, card.uuid,
          name_of(card) + (card.problem.empty() ? "" : ": " + printable(card.problem))};
}

bool is_healthy(const Card& card) { return card.problem.empty(); }

bool is_of(const Card& card, const GpuGroup& group) {
  return model::fits_kind(group.kind, card.kind) &&
         (card.memory == 0 || card.memory >= group.memory - group.memory / 2);
}

bool is_same(const GpuGroup& a, const GpuGroup& b) {
  return a.kind == b.kind && a.memory == b.memory;
}

/// The menu has no group of such cards.
bool is_apart(const Card& card, const InstanceType& type) {
  return type.gpu_groups.empty() || !is_of_type(card, type);
}

/// By kind, of the healthy cards that are apart.
std::map<std::string, std::int64_t> least_memory(const HostCards& cards, const InstanceType& type) {
  std::map<std::string, std::int64_t> out;
  for (const Card& card : cards.all()) {
    if (!is_healthy(card) || !is_apart(card, type)) continue;
    auto& least = out.emplace(card.kind, card.memory).first->second;
    least = std::min(least, card.memory);
  }
  return out;
}

std::string unsteady_text() {
  return "its cards changed in more than " + std::to_string(kChangedReadingsMax) +
         " readings of one hour";
}

}  // namespace

std::string name_of(const Card& card) {
  return "card " + std::to_string(card.index) + " (" + (card.kind.empty() ? "" : card.kind + ", ") +
         card.uuid + ")";
}

std::vector<CardNews> HostCards::take(const model::CardReport& report, Mono now) {
  guard_ = report.guard;
  if (!report.problem.empty()) return bounded(fail(report.problem), now);
  // What told once which cards there are is not there any more: they may all be there.
  if (report.source.empty() && known_)
    return bounded(fail("nothing on the host tells its cards any more"), now);
  failed_in_a_row_ = 0;
  std::vector<CardNews> news;
  if (!std::exchange(problem_, {}).empty()) news.push_back({Event::kCardsReadAgain, {}, {}});
  if (!report.source.empty()) {
    auto of_cards = replace(report.cards);
    news.insert(news.end(), of_cards.begin(), of_cards.end());
  }
  return bounded(std::move(news), now);
}

std::vector<CardNews> HostCards::fail(const std::string& problem) {
  ++failed_in_a_row_;
  new_ = false;
  const bool is_first = problem_.empty();
  problem_ = printable(problem);
  if (!is_first) return {};
  return {{Event::kCardsUnread, {}, problem_}};
}

std::vector<CardNews> HostCards::replace(std::vector<Card> cards) {
  std::ranges::stable_sort(cards, {}, &Card::uuid);
  cards.erase(std::unique(cards.begin(), cards.end(),
                          [](const Card& a, const Card& b) { return a.uuid == b.uuid; }),
              cards.end());
  std::vector<CardNews> news;
  for (const Card& fresh : cards) {
    const Card* before = find(fresh.uuid);
    if (before == nullptr && known_) news.push_back(news_of(Event::kCardAppeared, fresh));
    const bool was_healthy = before == nullptr || is_healthy(*before);
    if (was_healthy && !is_healthy(fresh)) news.push_back(news_of(Event::kCardFailed, fresh));
    if (!was_healthy && is_healthy(fresh)) news.push_back(news_of(Event::kCardHealthy, fresh));
  }
  std::swap(cards, cards_);
  for (const Card& before : cards)
    if (find(before.uuid) == nullptr)
      news.push_back({Event::kCardVanished, before.uuid, name_of(before)});
  new_ = !std::exchange(known_, true);
  return news;
}

std::vector<CardNews> HostCards::bounded(std::vector<CardNews> news, Mono now) {
  if (news.empty()) return news;
  if (changed_ == 0 || now - changing_since_ >= kUnsteadyTime) {
    changing_since_ = now;
    changed_ = 0;
    unsteady_ = false;
  }
  if (unsteady_) return {};
  // A tool that fails now and then says nothing against the cards.
  const bool is_of_cards =
      std::ranges::any_of(news, [](const auto& one) { return !one.uuid.empty(); });
  if (is_of_cards && ++changed_ > kChangedReadingsMax) {
    unsteady_ = true;
    return {{Event::kCardsUnsteady, {}, unsteady_text()}};
  }
  if (news.size() <= kCardEventsMax) return news;
  const std::string more = std::to_string(news.size() - kCardEventsMax) + " more changes";
  news.resize(kCardEventsMax);
  news.push_back({Event::kCardsChanged, {}, more});
  return news;
}

std::string HostCards::why_broken(const InstanceType& type) const {
  if (type.resources.gpus == 0) return {};
  if (unsteady_) return unsteady_text();
  if (failed_in_a_row_ >= kFailedReadingsMax)
    return "its cards could not be read " + std::to_string(failed_in_a_row_) +
           " times in a row: " + problem_;
  if (!known_ || !problem_.empty()) return {};
  if (cards_.empty())
    return "it has no card, and type " + type.name + " has " + std::to_string(type.resources.gpus) +
           " on the menu";
  if (std::ranges::any_of(cards_, is_healthy)) return {};
  return "no card is healthy: " + news_of(Event::kCardFailed, cards_.front()).text;
}

const Card* HostCards::find(std::string_view uuid) const {
  const auto found = std::ranges::lower_bound(
      cards_, uuid, {}, [](const Card& card) { return std::string_view(card.uuid); });
  return found == cards_.end() || found->uuid != uuid ? nullptr : &*found;
}

bool is_of_type(const Card& card, const InstanceType& type) {
  return type.gpu_groups.empty() || std::ranges::any_of(type.gpu_groups, [&](const auto& group) {
           return is_of(card, group);
         });
}

GpuGroup group_of(const Card& card, const InstanceType& type) {
  const GpuGroup* best = nullptr;
  const auto distance = [&](const GpuGroup& group) {
    return std::pair(-static_cast<std::int64_t>(group.kind.size()),
                     std::abs(group.memory - card.memory));
  };
  for (const auto& group : type.gpu_groups)
    if (is_of(card, group) && (best == nullptr || distance(group) < distance(*best))) best = &group;
  return best == nullptr ? GpuGroup{card.kind, card.memory, 0}
                         : GpuGroup{best->kind, best->memory, 0};
}

std::vector<FreeCard> free_cards(const HostCards& cards, const InstanceType& type,
                                 const std::set<std::string>& held, std::int32_t max) {
  if (!cards.problem().empty()) return {};
  const auto least = least_memory(cards, type);
  model::GpuGroups left = type.gpu_groups;
  const auto left_of = [&](const GpuGroup& group) {
    return std::ranges::find_if(left, [&](const auto& one) { return is_same(one, group); });
  };
  std::vector<FreeCard> out;
  for (const Card& card : cards.all()) {
    GpuGroup group = group_of(card, type);
    if (const auto of = least.find(card.kind); of != least.end() && is_apart(card, type))
      group.memory = of->second;
    if (!held.contains(card.uuid)) {
      if (is_healthy(card)) out.push_back({&card, std::move(group)});
    } else if (const auto of = left_of(group); of != left.end()) {
      --of->count;
    }
  }
  std::ranges::sort(out, {}, [](const FreeCard& one) {
    return std::tuple(one.card->index, std::string_view(one.card->uuid));
  });
  std::erase_if(out, [&](const FreeCard& one) {
    const auto of = left_of(one.group);
    if (max <= 0 || (of != left.end() && of->count <= 0)) return true;
    if (of != left.end()) --of->count;
    --max;
    return false;
  });
  return out;
}

model::GpuGroups groups_of(const std::vector<FreeCard>& cards) {
  std::map<std::pair<std::string, std::int64_t>, std::int32_t> counts;
  for (const auto& one : cards) ++counts[{one.group.kind, one.group.memory}];
  model::GpuGroups out;
  for (const auto& [group, count] : counts) out.push_back({group.first, group.second, count});
  return out;
}

model::GpuGroups healthy_groups(const HostCards& cards, const InstanceType& type) {
  return groups_of(free_cards(cards, type, {}, type.resources.gpus));
}

}  // namespace hostler::fleet
