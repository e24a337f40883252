#include "core/dispatch/state/sets/last_list.h"

#include <algorithm>
#include <utility>

namespace hostler::dispatch {
namespace {

/// So many instances in a row may have left since the last list.
constexpr std::size_t kGapMax = 16;

}  // namespace

std::vector<LastList::Entry> LastList::compare(const model::ListedInstances& all, Mono as_of,
                                               Mono now) {
  const bool is_newer = as_of >= std::exchange(as_of_, std::max(as_of, as_of_));
  ++number_;
  has_settled_ = false;
  std::vector<Entry> out;
  out.reserve(all.size());
  auto next = is_newer ? entries_.begin() : entries_.end();
  for (const auto& seen : all) {
    Entry& entry = out.emplace_back(Entry{seen, std::nullopt, nullptr});
    const auto end = std::min<std::ptrdiff_t>(entries_.end() - next, kGapMax);
    const auto before = std::find_if(next, next + end, [&](const Entry& one) {
      return one.seen == seen || one.seen->id == seen->id;
    });
    if (before == next + end) continue;
    next = before + 1;
    entry.host = before->host;
    if (!before->settled || !before->settled->holds) continue;
    if (before->seen != seen && *before->seen != *seen) continue;
    before->settled->shown_at = now;
    before->settled->in_list = number_;
    entry.settled = std::move(before->settled);
    has_settled_ = true;
  }
  return out;
}

}  // namespace hostler::dispatch
