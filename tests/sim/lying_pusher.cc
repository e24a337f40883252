#include "tests/sim/lying_pusher.h"

#include <utility>

namespace hostler::sim {

void LyingPusher::end_faults() {
  lies_ = false;
  session_ = 1'000'000;
  sequence_ = seen_ = 0;
}

void LyingPusher::loop() {
  if (!lies_) {
    if (!falls_silent_) tell_the_truth();
  } else if (random_.chance(0.2)) {
    attack();
  } else {
    lie();
  }
  time_.after(1ms * static_cast<std::int64_t>(500 + random_.below(3000)), [this] { loop(); });
}

model::Push LyingPusher::any_push() {
  model::Push out;
  if (random_.chance(0.1)) ++session_;
  out.session = "s-" + std::to_string(random_.chance(0.7) ? session_ : random_.below(session_ + 1));
  sequence_ += random_.below(3);
  out.sequence = random_.chance(0.02) ? UINT64_MAX : 1 + sequence_;
  const auto fate = random_.below(10);
  out.seen = fate == 0   ? 0
             : fate == 1 ? seen_ + 1 + random_.below(1000)
             : fate == 2 ? UINT64_MAX
                         : seen_;
  if (random_.chance(0.1)) return out;  // No agents.
  for (const auto& [name, machine] : agents_.connected())
    if (random_.chance(0.8)) out.agents.push_back({name, random_.chance(0.6)});
  if (random_.chance(0.3)) out.agents.push_back({"h-999999", random_.chance(0.5)});
  if (random_.chance(0.2)) out.agents.push_back({std::string("\x01\xff\x80 '\"", 6), false});
  if (random_.chance(0.1)) {
    out.desired_new =
        random_.chance(0.3) ? model::kSlotsMax : static_cast<std::int64_t>(random_.below(4));
    return out;
  }
  for (std::uint64_t n = random_.below(4); n > 0; --n)
    out.tasks.push_back(
        {"t" + std::to_string(n),
         random_.chance(0.2) ? model::kSlotsMax : static_cast<std::int32_t>(random_.below(20)),
         random_.chance(0.3) ? "g" : ""});
  if (random_.chance(0.3)) out.group_max["g"] = static_cast<std::int64_t>(random_.below(2)) << 40U;
  return out;
}

void LyingPusher::lie() {
  const char* const who = random_.chance(0.1) ? "mallory" : "liar";
  wire_.send({pool_, who, any_push()}, [this](const auto& result) { hear(result); });
}

/// To the other pool goes only what has to be refused: old sessions and sequences of its scheduler,
/// and pushes of others.
void LyingPusher::attack() {
  auto push = any_push();
  const auto& victim = victim_();
  std::string who = "mallory";
  if (random_.chance(0.7)) {
    who = victim.principal;
    push.session = victim.superseded.empty() || random_.chance(0.4)
                       ? victim.name
                       : victim.superseded[random_.below(victim.superseded.size())];
  }
  push.sequence = 1 + random_.below(20);
  const auto where = random_.below(20);
  const std::string pool = where == 0 ? "nowhere" : where == 1 ? "default" : other_;
  wire_.send(
      {pool, who, std::move(push)}, [](const auto&) {}, /*only_if_refused=*/true);
}

void LyingPusher::tell_the_truth() {
  model::Push out;
  out.session = "s-" + std::to_string(session_);
  out.sequence = ++sequence_;
  out.seen = seen_;
  for (const auto& [name, machine] : agents_.connected()) out.agents.push_back({name, true});
  wire_.send({pool_, "liar", std::move(out)}, [this](const auto& result) { hear(result); });
}

void LyingPusher::hear(const Result<model::PushAnswer>& result) {
  if (result) seen_ = result->answer;
  if (result || lies_) return;
  ++session_;  // A lie came late, and has taken over.
  sequence_ = seen_ = 0;
}

}  // namespace hostler::sim
