#include "tests/sim/crowd_cloud.h"

#include <algorithm>
#include <string>
#include <utility>

namespace hostler::sim {
namespace {

constexpr std::string_view kPrefix = "crowd-";

}  // namespace

void CrowdCloud::gather(std::int32_t max) {
  const auto most = std::max(kLimits.doubted, static_cast<std::size_t>(kLimits.per_max * max));
  count_ = most + 1 + random_.below(12);
  believed_ = false;
  ++crowds_;
}

Duration CrowdCloud::between(Duration low, Duration high) {
  const auto range = static_cast<std::uint64_t>((high - low).count());
  return low + Duration(static_cast<Duration::rep>(random_.below(range + 1)));
}

void CrowdCloud::show(std::vector<model::ListedInstance>& list) const {
  for (std::uint64_t i = 0; i < count_; ++i) {
    auto& one = list.emplace_back();
    const std::string crowd = std::to_string(crowds_) + "-";
    one.id = std::string(kPrefix) + crowd + std::to_string(i);
    // Some of them have the tags of one another.
    one.idempotency_key = "key-of-crowd-" + crowd + std::to_string(i % 16);
    one.set_id = "west";
    one.owner = "owner-1";
    one.pool = "default";
    one.type = "small";
    one.state = model::CloudState::kRunning;
  }
}

void CrowdCloud::heard(const dispatch::SetListed& answer, const dispatch::Queries& queries) {
  if (!answer.result || !queries.sets().front().open) return;
  heard_ = std::ranges::any_of(*answer.result,
                               [](const auto& one) { return one->id.starts_with(kPrefix); });
}

std::optional<dispatch::BelieveList> CrowdCloud::believe(const dispatch::Queries& queries) {
  const auto set = queries.sets().front();
  if (!may_believe_ || !set.strangers || !set.strangers->doubted) return std::nullopt;
  believed_ = true;
  return dispatch::BelieveList{0, "admin", set.name, set.list};
}

void CrowdCloud::check(const dispatch::Outbox& outbox) {
  std::size_t adopted = 0;
  for (const auto& change : outbox.changes) {
    if (const auto* row = model::get_change<model::InstanceChanged>(change))
      check(row->record, adopted);
    const auto* record = std::get_if<model::LedgerRecord>(&change);
    if (record != nullptr && record->event == model::Event::kCreateIntended && heard_ && !believed_)
      complain_(record->subject + " is created, and the last list shows a crowd");
  }
  // As many may be ended because they have the key of another one.
  if (adopted > 2 * kLimits.slice) complain_(std::to_string(adopted) + " are adopted at once");
}

void CrowdCloud::check(const model::InstanceRecord& record, std::size_t& adopted) {
  if (!record.provider_id.starts_with(kPrefix) || !adopted_.insert(record.id).second) return;
  ++adopted;
  if (!believed_) complain_(record.provider_id + " is taken over, and nobody believes the list");
}

}  // namespace hostler::sim
