#include "core/hosts/card_view.h"

#include <algorithm>
#include <utility>

#include "core/base/units.h"
#include "core/cards/read_cards.h"

namespace hostler::hosts {
namespace {

/// Less than the minute of the agent, whose clock may go faster, and some more for messages that
/// were held up on their way.
constexpr std::chrono::seconds kInterval{45};
constexpr std::int64_t kHeldUp = 4;

}  // namespace

bool CardView::admit(Moment now) {
  if (!first_) first_ = now;
  return ++told_ <= expected_ + kHeldUp + (now - *first_) / kInterval;
}

bool CardView::learn(const agent::Cards& cards) {
  model::CardReport report = cards::read_cards(cards);
  if (report.problem.empty() && !report.source.empty()) known_ = report.cards;
  if (report == report_ && report.problem.empty()) return false;
  report_ = std::move(report);
  return true;
}

void CardView::learn_nothing(Duration patience) {
  report_ = {};
  report_.source = "agent";
  report_.problem = "the agent has not told of its cards in " + format_duration(patience);
}

std::optional<agent::Guard> CardView::take_guard() {
  if (!known_) return std::nullopt;
  agent::Guard guard;
  for (const model::Card& card : *known_)
    guard.files.insert(guard.files.end(), card.files.begin(), card.files.end());
  std::ranges::sort(guard.files);
  guard.files.erase(std::unique(guard.files.begin(), guard.files.end()), guard.files.end());
  if (guard_ == guard) return std::nullopt;
  guard_ = guard;
  return guard;
}

Result<void> CardView::equip(agent::Start& start, const std::vector<std::string>& uuids) const {
  if (!known_ && uuids.empty() && report_.source.empty()) return {};
  std::vector<std::string> files;
  std::string list;
  for (const std::string& uuid : uuids) {
    const model::Card* card = nullptr;
    if (known_)
      if (const auto at = std::ranges::find(*known_, uuid, &model::Card::uuid); at != known_->end())
        card = &*at;
    if (card == nullptr) return fail(Errc::kNotFound, "card " + uuid + " is not there any more");
    files.insert(files.end(), card->files.begin(), card->files.end());
    list += (list.empty() ? "" : ",") + uuid;
  }
  start.cards = uuids;
  start.files = std::move(files);
  // Older HIP, which reads CUDA's variable too, understands no UUIDs there.
  if (uuids.empty() || report_.source != "rocm-smi")
    start.env.emplace_back("CUDA_VISIBLE_DEVICES", list);
  for (const char* name : {"ROCR_VISIBLE_DEVICES", "HOSTLER_GPUS"})
    start.env.emplace_back(name, list);
  return {};
}

}  // namespace hostler::hosts
