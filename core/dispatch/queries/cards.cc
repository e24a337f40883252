#include "core/dispatch/queries/cards.h"

#include <algorithm>
#include <utility>

#include "core/base/text.h"

namespace hostler::dispatch {
namespace {

using model::CardState;

constexpr std::size_t kShown = 8;  ///< Cards of one host that `why` names for one reason.

std::string bad_card(const model::CardView& bad) {
  const std::string has = bad.attempt ? ", which " + bad.attempt->text() + " has," : "";
  const std::string why = printable(bad.card.problem);
  return fleet::name_of(bad.card) + has + " gets no new work: " + why;
}

std::string unread(const fleet::HostCards& cards) {
  if (cards.are_unread()) return "its cards are not known yet, so no work starts there: ";
  return "its cards cannot be read, so no work with cards starts there: ";
}

/// A tool and the menu may name one kind otherwise. Empty: some card is of the type.
std::string other_kinds(const fleet::HostCards& cards, const model::InstanceType& type) {
  const auto is_healthy = [](const model::Card& card) { return card.problem.empty(); };
  const auto healthy = std::ranges::find_if(cards.all(), is_healthy);
  const auto is_right = [&](const model::Card& card) { return fleet::is_of_type(card, type); };
  if (healthy == cards.all().end() || std::ranges::any_of(cards.all(), is_right)) return {};
  return "none of its cards is of a kind that type " + type.name +
         " has on the menu: " + fleet::name_of(*healthy) +
         ": set the kind of the type as the host lists it";
}

/// Empty: each card has device files, which a guard can keep from jobs.
std::string without_files(const fleet::HostCards& cards) {
  std::string names;
  std::size_t count = 0;
  for (const auto& card : cards.all()) {
    if (!card.files.empty() || ++count > kShown) continue;
    names += (names.empty() ? "" : ", ") + fleet::name_of(card);
  }
  if (count > kShown) names += " and " + std::to_string(count - kShown) + " more cards";
  if (count == 0) return {};
  return names + (count == 1 ? " has" : " have") +
         " no device files: nothing keeps other jobs from " + (count == 1 ? "it" : "them");
}

}  // namespace

bool has_files(const fleet::HostCards& cards) {
  return std::ranges::any_of(cards.all(), [](const auto& card) { return !card.files.empty(); });
}

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
  const auto& cards = instance.occupancy.cards();
  if (instance.type && policy.types[*instance.type].resources.gpus > 0) {
    if (!cards.problem().empty()) texts.push_back(unread(cards) + cards.problem());
    for (auto text : {other_kinds(cards, policy.types[*instance.type]), without_files(cards)})
      if (!text.empty()) texts.push_back(std::move(text));
  }
  std::size_t bad = 0;
  for (const auto& one : cards_of(instance)) {
    if (one.state != CardState::kBad) continue;
    if (++bad <= kShown) texts.push_back(bad_card(one));
  }
  if (bad > kShown) texts.push_back(std::to_string(bad - kShown) + " more cards get no new work");
}

}  // namespace hostler::dispatch
