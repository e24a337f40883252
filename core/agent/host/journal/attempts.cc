#include "core/agent/host/journal/attempts.h"

#include <algorithm>
#include <utility>

namespace hostler::agent {

void Attempts::apply(Record&& record) {
  if (auto* begin = std::get_if<Begin>(&record)) {
    last_sequence = std::max(last_sequence, begin->sequence);
    all_[begin->attempt].begin = std::move(*begin);
  } else if (auto* end = std::get_if<End>(&record)) {
    const auto found = all_.find(end->attempt);
    if (found == all_.end() || found->second.end) return;
    found->second.end = std::move(end->end);
    found->second.spooled = end->spooled;
    ended_.insert(end->attempt);
  } else if (const auto* forget = std::get_if<Forget>(&record)) {
    all_.erase(forget->attempt);
    ended_.erase(forget->attempt);
  } else if (auto* opened = std::get_if<Opened>(&record)) {
    state_id = std::move(opened->state_id);
    last_sequence = std::max(last_sequence, opened->last_sequence);
  }
}

Attempt* Attempts::find(model::AttemptId id) {
  const auto found = all_.find(id);
  return found == all_.end() ? nullptr : &found->second;
}

std::set<model::AttemptId> Attempts::take_ended() { return std::exchange(ended_, {}); }

std::string Attempts::snapshot() const {
  std::string out = to_record(Opened{state_id, last_sequence});
  for (const auto& [id, attempt] : all_) {
    out += to_record(attempt.begin);
    if (attempt.end) out += to_record(End{id, *attempt.end, attempt.spooled});
  }
  return out;
}

}  // namespace hostler::agent
