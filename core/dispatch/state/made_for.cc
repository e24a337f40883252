#include "core/dispatch/state/made_for.h"

#include "core/base/assert.h"

namespace hostler::dispatch {

void MadeFor::cancel(std::map<demand::ClassId, std::uint64_t>& cancelled) {
  HOSTLER_ASSERT(!cancelled_, "work is cancelled once");
  for (auto& load : load_) {
    auto& left = cancelled[load.cls];
    const auto count = static_cast<std::uint32_t>(std::min<std::uint64_t>(load.count, left));
    load.count -= count;
    left -= count;
  }
  std::erase_if(load_, [](const auto& load) { return load.count == 0; });
  cancelled_ = load_.empty();
}

void MadeFor::placed(demand::ClassId cls) {
  const auto found = std::ranges::find(load_, cls, &demand::Load::cls);
  HOSTLER_ASSERT(found != load_.end() && found->count > 0, "work that was expected is placed");
  if (--found->count == 0) load_.erase(found);
}

void MadeFor::drop(demand::ClassId cls) {
  const auto found = std::ranges::find(load_, cls, &demand::Load::cls);
  if (found != load_.end()) load_.erase(found);
}

}  // namespace hostler::dispatch
