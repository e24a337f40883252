#include "core/dispatch/handlers/epochs.h"

#include <algorithm>
#include <utility>

#include "core/base/text.h"

namespace hostler::dispatch {

bool Epochs::compare(SetListed& event, Now now) {
  const auto index = sets_.index_of(event.set);
  if (!index || !event.result) return true;
  Set& set = sets_.at(*index);
  if (!set.takes_answer(event.sent)) return true;  // Perhaps of another account.
  if (const auto* later = latest(set, *event.result)) {
    found(set, *later, now);
    if (is_old_) return false;
    model::CloudError error;
    error.cls = model::CloudErrorClass::kMisbehaving;
    error.message = set.first_list.later;
    event.result = tl::unexpected(std::move(error));
    return true;
  }
  take_first(*index, now);
  return true;
}

std::uint64_t Epochs::rows_end(const Set& set) const {
  return set.first_list.rows_end.value_or(recorder_.epoch());
}

/// The instance of the latest epoch after the rows; a tag that names one far away is damaged.
const model::ListedInstance* Epochs::latest(const Set& set,
                                            const model::ListedInstances& list) const {
  const std::uint64_t last = rows_end(set);
  const model::ListedInstance* out = nullptr;
  for (const auto& seen : list) {
    const bool is_later = seen->epoch > (out == nullptr ? last : out->epoch) &&
                          seen->epoch - last <= model::kEpochsBehindMax;
    if (is_later && seen->owner == recorder_.owner() && seen->set_id == set.name) out = seen.get();
  }
  return out;
}

void Epochs::found(Set& set, const model::ListedInstance& latest, Now now) {
  const std::string text = "instance " + printable(latest.id, 80) + " of set " + set.name +
                           " was made in epoch " + std::to_string(latest.epoch) +
                           ", and the rows end in epoch " + std::to_string(rows_end(set));
  const bool was_stopped = set.is_stopped();
  set.first_list.holds_creates = true;
  set.first_list.later = text +
                         ": correct the tag hostler-epoch of that instance, or, if the state was "
                         "put back, start hostlerd with --restored (docs/backup.md)";
  is_old_ = set.first_list.rows_end.has_value() ||
            std::ranges::all_of(sets_.all(), [](const Set& one) { return one.is_stopped(); });
  if (is_old_) {
    recorder_.discard();
  } else if (was_stopped) {
    return;
  } else {
    changed(set, model::Event::kListDoubted, set.first_list.later, now);
  }
  recorder_.effect(EpochsCompared{text, latest.epoch, is_old_});
}

void Epochs::take_first(std::uint32_t index, Now now) {
  Set& set = sets_.at(index);
  const FirstList first = std::exchange(set.first_list, {});
  if (first.holds_creates) plan_.want();  // It refused them until now.
  if (!first.later.empty())
    changed(set, model::Event::kListTrusted, "it shows no instance of a later epoch any more", now);
  if (first.rows_end) restore_.adopt(index, now);
  if (!first.rows_end && first.later.empty()) return;
  if (std::ranges::none_of(
          sets_.all(), [](const Set& one) { return one.first_list.rows_end || one.is_stopped(); }))
    recorder_.effect(EpochsCompared{});
}

void Epochs::changed(const Set& set, model::Event event, const std::string& text, Now now) {
  hosts_.touch_all();
  plan_.want();
  recorder_.record("cloud", "set " + set.name, event, "", text, now);
}

}  // namespace hostler::dispatch
