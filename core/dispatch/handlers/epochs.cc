#include "core/dispatch/handlers/epochs.h"

#include <algorithm>
#include <utility>

#include "core/base/text.h"

namespace hostler::dispatch {

bool Epochs::compare(const SetListed& event, Now now) {
  const auto index = sets_.index_of(event.set);
  if (!index || !event.result) return true;
  Set& set = sets_.at(*index);
  if (!set.takes_answer(event.sent)) return true;  // Perhaps of another account.
  const model::ListedInstance* latest = nullptr;
  for (const auto& seen : *event.result)
    if ((latest == nullptr || seen->epoch > latest->epoch) && seen->owner == recorder_.owner() &&
        seen->set_id == set.name)
      latest = seen.get();
  const std::uint64_t last = set.first_list.rows_end.value_or(recorder_.epoch());
  if (latest != nullptr && latest->epoch > last) {
    is_old_ = true;
    recorder_.discard();
    recorder_.effect(EpochsCompared{
        "instance " + printable(latest->id, 80) + " of set " + set.name + " was made in epoch " +
            std::to_string(latest->epoch) + ", and the rows end in epoch " + std::to_string(last),
        latest->epoch});
    return false;
  }
  const FirstList first = std::exchange(set.first_list, {});
  if (first.holds_creates) plan_.want();  // It refused them until now.
  if (!first.rows_end) return true;
  restore_.adopt(*index, now);
  const auto& all = sets_.all();
  if (std::ranges::none_of(all, [](const Set& one) { return one.first_list.rows_end.has_value(); }))
    recorder_.effect(EpochsCompared{});
  return true;
}

}  // namespace hostler::dispatch
