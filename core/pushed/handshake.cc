#include "core/pushed/handshake.h"

namespace hostler::pushed {

void Handshake::pushed(std::uint64_t seen, const std::set<model::InstanceId>& busy,
                       const std::set<model::InstanceId>& too_old) {
  const bool is_ours = seen > base_ && seen <= last_;
  for (auto at = going_.begin(); at != going_.end();) {
    auto& [id, going] = *at;
    if (!busy.contains(id)) {
      going.acknowledged |= is_ours && going.named_by != 0 && seen >= going.named_by;
      ++at;
      continue;
    }
    going.acknowledged = false;
    if (too_old.contains(id))
      ++at;
    else
      at = going_.erase(at);
  }
}

void Handshake::session_changed() {
  for (auto& [id, going] : going_) going = {};
}

void Handshake::planned(const std::set<model::InstanceId>& going) {
  std::erase_if(going_, [&](const auto& entry) { return !going.contains(entry.first); });
  for (const auto id : going) going_.try_emplace(id);
}

Handshake::Answer Handshake::answer() {
  Answer out{.number = ++last_, .going = {}};
  for (auto& [id, going] : going_) {
    if (going.named_by == 0) going.named_by = out.number;
    out.going.push_back(id);
  }
  return out;
}

bool Handshake::is_acknowledged(model::InstanceId id) const {
  const auto found = going_.find(id);
  return found != going_.end() && found->second.acknowledged;
}

std::uint64_t answers_base(std::uint64_t epoch) {
  // Mixed (splitmix64), so that the answers of two starts are far apart, and within what each JSON
  // reader keeps exactly.
  std::uint64_t x = epoch + 0x9e3779b97f4a7c15U;
  x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
  x ^= x >> 31U;
  return x & ((std::uint64_t{1} << 52U) - 1);
}

}  // namespace hostler::pushed
