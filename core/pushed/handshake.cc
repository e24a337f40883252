#include "core/pushed/handshake.h"

namespace hostler::pushed {

void Handshake::pushed(std::uint64_t seen, const std::set<model::InstanceId>& busy,
                       const std::set<model::InstanceId>& too_old) {
  const bool is_given = seen <= last_;
  for (auto at = going_.begin(); at != going_.end();) {
    auto& [id, going] = *at;
    if (!busy.contains(id)) {
      if (is_given && going.named_by != 0 && seen >= going.named_by) going.acknowledged = true;
      ++at;
      continue;
    }
    going.acknowledged = false;
    if (going.ends || too_old.contains(id))
      ++at;
    else
      at = going_.erase(at);
  }
}

void Handshake::session_changed() {
  for (auto& [id, going] : going_) going = {.ends = going.ends};
}

void Handshake::renamed(model::InstanceId id) {
  const auto found = going_.find(id);
  if (found != going_.end()) found->second = {.ends = found->second.ends};
}

void Handshake::planned(const std::set<model::InstanceId>& going) {
  std::erase_if(going_, [&](const auto& entry) {
    return !entry.second.ends && !going.contains(entry.first);
  });
  for (const auto id : going) going_.try_emplace(id);
}

void Handshake::ending(const std::set<model::InstanceId>& ids) {
  std::erase_if(going_,
                [&](const auto& entry) { return entry.second.ends && !ids.contains(entry.first); });
  for (const auto id : ids) going_[id].ends = true;
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
  constexpr unsigned kAnswerBits = 32, kExactBits = 53;
  return (epoch << kAnswerBits) & ((std::uint64_t{1} << kExactBits) - 1);
}

}  // namespace hostler::pushed
