#include "core/dispatch/queries/cards.h"

#include <algorithm>

#include "core/base/text.h"

namespace hostler::dispatch {
namespace {

using model::CardState;

constexpr std::size_t kBadShown = 8;  ///< Cards of one host that `why` names.

std::string bad_card(const model::CardView& bad) {
  const std::string has = bad.attempt ? ", which " + bad.attempt->text() + " has," : "";
  const std::string why = printable(bad.card.problem);
  return fleet::name_of(bad.card) + has + " gets no new work: " + why;
}

}  // namespace

std::vector<model::CardView> cards_of(const fleet::Instance& instance) {
  const auto& occupancy = instance.occupancy;
  const auto& cards = occupancy.cards();
  auto holders = occupancy.holders();
  std::vector<model::CardView> out;
  for (const auto& card : cards.all()) {
    auto& view = out.emplace_back();
    view.card = card;
    const auto holder = holders.find(card.uuid);
    const bool is_held = holder != holders.end();
    if (is_held) view.attempt = holder->second;
    if (!card.problem.empty())
      view.state = CardState::kBad;
    else if (is_held || occupancy.is_lent())
      view.state = CardState::kUsed;
    else if (!cards.problem().empty())
      view.state = CardState::kUnknown;
    if (is_held) holders.erase(holder);
  }
  std::ranges::stable_sort(out, {}, [](const auto& one) { return one.card.index; });
  std::int32_t shown = 0;
  for (const auto& [uuid, attempt] : holders) {
    if (++shown > model::kCardsMax) break;
    auto& view = out.emplace_back();
    view.card.uuid = uuid;
    view.attempt = attempt;
    view.state = cards.are_known() ? CardState::kBad : CardState::kUsed;
    if (cards.are_known()) view.card.problem = "the host does not list it any more";
  }
  return out;
}

model::CardCounts count_of(const std::vector<model::CardView>& cards,
                           const fleet::Instance& instance, const model::SitePolicy& policy) {
  model::CardCounts out;
  for (const auto& one : cards) switch (one.state) {
      case CardState::kFree:
        ++out.free;
        break;
      case CardState::kUsed:
        ++out.used;
        break;
      case CardState::kBad:
        ++out.bad;
        break;
      case CardState::kUnknown:
        ++out.unknown;
        break;
    }
  if (instance.occupancy.cards().are_known() || !instance.type) return out;
  const std::int32_t menu = policy.types[*instance.type].resources.gpus;
  out.used = std::max(out.used, std::min(menu, instance.occupancy.used().gpus));
  out.unknown = std::max(0, menu - out.used);
  return out;
}

void add_cards(const fleet::Instance& instance, const model::SitePolicy& policy,
               std::vector<std::string>& texts) {
  const auto& problem = instance.occupancy.cards().problem();
  const bool has_cards = instance.type && policy.types[*instance.type].resources.gpus > 0;
  if (!problem.empty() && has_cards)
    texts.push_back("its cards cannot be read, so no work with cards starts there: " + problem);
  std::size_t bad = 0;
  for (const auto& one : cards_of(instance)) {
    if (one.state != CardState::kBad) continue;
    if (++bad <= kBadShown) texts.push_back(bad_card(one));
  }
  if (bad > kBadShown)
    texts.push_back(std::to_string(bad - kBadShown) + " more cards get no new work");
}

}  // namespace hostler::dispatch
