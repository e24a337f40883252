#include "core/cards/check.h"

#include <algorithm>
#include <set>
#include <string>
#include <string_view>

#include "core/agent/protocol.h"
#include "core/base/text.h"

namespace hostler::cards {
namespace {

constexpr std::size_t kPathBytesMax = 4096, kDriverBytesMax = 64;
constexpr std::int64_t kMemoryMax = std::int64_t{1} << 50U;  // 1 PiB
constexpr std::int32_t kIndexMax = 65535;

tl::unexpected<Error> bad(const std::string& text) { return fail(Errc::kInvalidArgument, text); }

/// A path that the kernel opens as it stands, without a detour.
bool is_device_path(std::string_view path) {
  return path.size() > 1 && path.size() <= kPathBytesMax && path.starts_with('/') &&
         path.find("/../") == std::string_view::npos && !path.ends_with("/..") &&
         std::ranges::all_of(path, [](char c) { return c > ' ' && c <= '~'; });
}

Result<void> check_card(const model::Card& card) {
  if (!model::is_card_uuid(card.uuid))
    return bad("a card has the UUID \"" + printable(card.uuid, 80) +
               "\"; allowed: 1 to 64 printable characters without spaces and commas");
  const std::string its = "card " + card.uuid + " has ";
  if (card.index < 0 || card.index > kIndexMax)
    return bad(its + "the index " + std::to_string(card.index));
  if (card.memory < 0 || card.memory > kMemoryMax)
    return bad(its + "a memory of " + std::to_string(card.memory) + " bytes");
  if (card.driver.size() > kDriverBytesMax || card.driver != printable(card.driver))
    return bad(its + "a driver that is not a line of " + std::to_string(kDriverBytesMax) +
               " bytes");
  for (const std::string& path : card.files)
    if (!is_device_path(path))
      return bad(its + "the file \"" + printable(path, 80) + "\"; allowed: an absolute path");
  return {};
}

}  // namespace

tl::unexpected<Error> too_many_cards() {
  return bad("it lists more than " + std::to_string(model::kCardsMax) + " cards");
}

Result<void> check_cards(const std::vector<model::Card>& cards) {
  if (cards.size() > model::kCardsMax) return too_many_cards();
  std::set<std::string_view> uuids, files;
  for (const model::Card& card : cards) {
    HOSTLER_TRY(check_card(card));
    if (!uuids.insert(card.uuid).second) return bad("two cards have the UUID " + card.uuid);
    for (const std::string& file : card.files)
      if (!files.insert(file).second)
        return bad("two cards have the file " + file + "; allowed: files of one card alone");
  }
  if (files.size() > agent::kCardFilesMax)
    return bad("its cards have " + std::to_string(files.size()) + " device files; at most " +
               std::to_string(agent::kCardFilesMax) + " are understood");
  return {};
}

}  // namespace hostler::cards
