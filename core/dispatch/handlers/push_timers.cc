#include <chrono>
#include <utility>

#include "core/base/units.h"
#include "core/dispatch/handlers/push_events.h"

/// All that time alone changes in pools that outside schedulers size.
namespace hostler::dispatch {
namespace {

constexpr Duration kTickInterval = std::chrono::seconds(90);

model::Event event_of(Silence silence) {
  switch (silence) {
    case Silence::kNone:
    case Silence::kTooOld:
      return model::Event::kPushTooOld;
    case Silence::kLong:
      return model::Event::kPoolAbandonSoon;
    case Silence::kAbandoned:
      return model::Event::kPoolAbandoned;
  }
  return model::Event::kPushTooOld;
}

/// The end of a sentence.
std::string what_follows(Silence silence, const model::PushedPolicy& policy) {
  if (silence == Silence::kAbandoned) return ": its hosts go";
  if (silence == Silence::kLong)
    return ": all its hosts go after " + format_duration(policy.abandoned_after);
  return ": its hosts stay as they are; see whether its scheduler runs";
}

}  // namespace

void PushEvents::fire_due(Now now) {
  while (const auto id = owners_.hosts.pop_agent_due(now.mono)) {
    Host& host = *owners_.hosts.change(*id);
    const auto& pool = owners_.policy.pools[host.instance.pool];
    steps_.apply(host, fleet::agent_due(host.instance, pool, now), "timer", now);
  }
  for (const auto& [index, known] : owners_.pushes.all()) {
    const auto& policy = owners_.policy.pools[index].pushed;
    if (!policy || known.next_silence(*policy) > now.mono) continue;
    silent(index, *owners_.pushes.find(index), known.silence_at(*policy, now.mono), now);
  }
}

void PushEvents::silent(std::uint32_t pool, PushedPool& of, Silence silence, Now now) {
  const auto& policy = owners_.policy.pools[pool];
  of.silence = silence;
  owners_.recorder.record(
      "timer", "pool " + policy.name, event_of(silence), "",
      "no push for " + format_duration(now.mono - of.heard) + what_follows(silence, *policy.pushed),
      now);
  if (silence != Silence::kAbandoned) return;
  forget_demand(of);
  for (const auto id : hosts_of(pool)) forget_agent(id, "timer", now);
  owners_.bounds.say(pool, scheduler::kPushedSource, of.bounds(*policy.pushed, now.mono));
  owners_.plan.want();
}

/// "2 busy of p3.16xlarge, 1 coming of p3.16xlarge"
void PushEvents::tick(std::uint32_t pool, PushedPool& to, Now now) {
  if (now.mono < to.next_tick) return;
  to.next_tick = now.mono + kTickInterval;
  std::map<std::pair<std::string, std::string>, std::uint32_t> counts;
  for (const auto id : hosts_of(pool)) {
    const auto& instance = owners_.hosts.find(id)->instance;
    ++counts[{agent_text(instance), instance.record.type}];
  }
  std::string text;
  for (const auto& [of, count] : counts)
    text +=
        (text.empty() ? "" : ", ") + std::to_string(count) + " " + of.first + " of " + of.second;
  owners_.recorder.record("user", "pool " + owners_.policy.pools[pool].name,
                          model::Event::kPoolTick, "", text.empty() ? "no hosts" : text, now);
}

}  // namespace hostler::dispatch
