#include "tests/sim/push_turns.h"

#include <algorithm>

namespace hostler::sim {

void PushTurns::daemon_started(Mono now) {
  session_ = durable_;
  sequence_.reset();
  term_ends_ = session_.principal.empty() ? Mono::min() : now + max_age_;
}

void PushTurns::put_back() {
  durable_ = {};
  is_certain_ = false;
}

std::optional<bool> PushTurns::takes(const std::string& principal, const model::Push& push,
                                     Mono now) const {
  if (!is_certain_) return std::nullopt;
  if (principal != session_.principal) return now >= term_ends_;
  if (std::ranges::count(session_.superseded, push.session) > 0) return false;
  return push.session != session_.name || !sequence_ || push.sequence > *sequence_;
}

bool PushTurns::taken(const std::string& principal, const model::Push& push, Mono now) {
  const bool is_same = principal == session_.principal;
  const bool is_new = !is_same || push.session != session_.name;
  if (!is_same) session_.superseded.clear();
  if (is_same && is_new) session_.superseded.push_front(session_.name);
  if (session_.superseded.size() > model::kSupersededMax) session_.superseded.pop_back();
  session_.principal = principal;
  session_.name = push.session;
  sequence_ = push.sequence;
  term_ends_ = now + max_age_;
  return is_new;
}

}  // namespace hostler::sim
