#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/time.h"
#include "core/model/card.h"
#include "core/model/event.h"
#include "core/model/gpus.h"
#include "core/model/offering.h"

namespace hostler::fleet {

/// So many readings in a row that fail make a host broken.
inline constexpr std::uint32_t kFailedReadingsMax = 3;
/// A host whose cards change in more readings than this in kUnsteadyTime is broken: readings with
/// news of a card, not those that only fail.
inline constexpr std::uint32_t kChangedReadingsMax = 10;
inline constexpr Duration kUnsteadyTime = std::chrono::hours(1);
/// Cards of one reading that have an event of their own.
inline constexpr std::size_t kCardEventsMax = 10;

/// What a reading of the cards has shown anew, for the ledger.
struct CardNews {
  model::Event event{};
  std::string uuid;  ///< Of the card; empty: it is of all cards.
  std::string text;  ///< For people.
  friend bool operator==(const CardNews&, const CardNews&) = default;
};

/// The cards that one host has told of: which are there, and which of them are healthy. A reading
/// that fails changes none of that. Who has a card is Occupancy's.
class HostCards {
 public:
  /// A reading, on any connection. Returns what is new in it: what the first good one shows is no
  /// news, but for cards with a problem. At most kCardEventsMax + 1 of cards; none as long as the
  /// host is unsteady.
  std::vector<CardNews> take(const model::CardReport& report, Mono now);

  /// The host has told which cards it has. If not, its cards are a number.
  [[nodiscard]] bool are_known() const { return known_; }
  /// It has told of its cards, or could not read them: the menu does not count any more.
  [[nodiscard]] bool has_told() const { return known_ || !problem_.empty(); }
  /// It has a tool, which has not told its cards yet: nothing keeps jobs from any of them.
  [[nodiscard]] bool are_unread() const { return !known_ && !problem_.empty(); }
  /// The last reading was the first good one.
  [[nodiscard]] bool are_new() const { return new_; }
  /// The last reading has failed, and why: no work with cards starts.
  [[nodiscard]] const std::string& problem() const { return problem_; }
  /// Why the host is broken, as far as its cards say, for a type with so many cards; empty: it is
  /// not.
  [[nodiscard]] std::string why_broken(const model::InstanceType& type) const;
  /// By UUID; healthy or not.
  [[nodiscard]] const std::vector<model::Card>& all() const { return cards_; }
  /// Null: there is none now.
  [[nodiscard]] const model::Card* find(std::string_view uuid) const;
  [[nodiscard]] model::CardGuard guard() const { return guard_; }

 private:
  std::vector<CardNews> fail(const std::string& problem);
  std::vector<CardNews> replace(std::vector<model::Card> cards);
  /// Counts a reading that shows news; the news that are told of it.
  std::vector<CardNews> bounded(std::vector<CardNews> news, Mono now);

  bool known_ = false;
  bool new_ = false;
  std::string problem_;
  std::vector<model::Card> cards_;
  model::CardGuard guard_ = model::CardGuard::kNone;
  std::uint32_t failed_in_a_row_ = 0;
  std::uint32_t changed_ = 0;  ///< Readings since changing_since_.
  Mono changing_since_ = Mono::min();
  bool unsteady_ = false;
};

/// "card 2 (a100, GPU-4f1c)".
[[nodiscard]] std::string name_of(const model::Card& card);

/// The group of the menu to which a card belongs: its kind fits, and it has not less than half of
/// the memory; of several the longest name, then the nearest memory. If none does, one of its own.
/// The count is 0.
[[nodiscard]] model::GpuGroup group_of(const model::Card& card, const model::InstanceType& type);

/// The menu has such cards for the type: it has a group of them, or says no kinds.
[[nodiscard]] bool is_of_type(const model::Card& card, const model::InstanceType& type);

/// A card that work may get now.
struct FreeCard {
  const model::Card* card = nullptr;  ///< Valid as long as the HostCards do not change.
  model::GpuGroup group;              ///< Its count is 0.
};
/// Healthy cards of which none is in `held`, by index: of each group of the menu no more than the
/// menu has, those that are held included, and `max` in all. Cards of no group of the menu are one
/// group for each kind, with the least memory of its healthy cards: equal cards differ a little.
[[nodiscard]] std::vector<FreeCard> free_cards(const HostCards& cards,
                                               const model::InstanceType& type,
                                               const std::set<std::string>& held, std::int32_t max);
/// Groups of cards, by kind and memory.
[[nodiscard]] model::GpuGroups groups_of(const std::vector<FreeCard>& cards);
/// What is free of the cards if nothing is in use; empty unless the host has told which they are.
[[nodiscard]] model::GpuGroups healthy_groups(const HostCards& cards,
                                              const model::InstanceType& type);

}  // namespace hostler::fleet
