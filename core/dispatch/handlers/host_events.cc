#include "core/dispatch/handlers/host_events.h"

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/base/units.h"

namespace hostler::dispatch {
namespace {
/// HostBroken::check of a host that has less than half of the RAM of its type.
constexpr const char* kRamCheck = "ram";
}  // namespace

void HostEvents::on(const model::HostEvent& event, Now now) {
  Host* host = hosts_.change(event.instance);
  if (host != nullptr) std::visit([&](const auto& body) { on(*host, body, now); }, event.body);
}

void HostEvents::judge_left_alone(Now now) {
  std::vector<model::InstanceId> ids;
  for (const auto& [id, host] : hosts_.all())
    if (!host.instance.occupancy.left_alone().empty()) ids.push_back(id);
  for (const auto id : ids)
    if (Host* host = hosts_.change(id)) attempts_.judge_left_alone(*host, now);
}

void HostEvents::on(Host& host, const model::HostNotYet& event, Now now) {
  steps_.apply(host, fleet::not_yet(host.instance, event, now), "host", now);
}

void HostEvents::on(Host& host, const model::HostInitFailed& event, Now now) {
  steps_.apply(host, fleet::init_failed(host.instance, event, now), "host", now);
}

void HostEvents::on(Host& host, const model::HostVerified& event, Now now) {
  const auto& pool = policy_.pools[host.instance.pool];
  steps_.apply(host, fleet::verified(host.instance, event, pool, now), "host", now);
}

void HostEvents::on(Host& host, const model::HostBooted& event, Now now) {
  const auto& pool = policy_.pools[host.instance.pool];
  const model::InstanceId id = host.id();
  steps_.apply(host, fleet::booted(host.instance, event, pool, now), "host", now);
  const Host* still = hosts_.find(id);
  if (still == nullptr || !still->instance.link.is_connected()) return;
  lending_.connected(*still, now);
  takeover_.ask(*still, now);
}

void HostEvents::on(Host& host, const model::HostKeyAlarm& event, Now now) {
  const auto& pool = policy_.pools[host.instance.pool];
  steps_.apply(host, fleet::key_alarm(host.instance, event, pool, now), "host", now);
}

void HostEvents::on(Host& host, const model::RotationProposed& event, Now now) {
  const auto& record = host.instance.record;
  auto outcome = fleet::rotation_proposed(host.instance, event);
  const bool accepted = outcome.changed;
  steps_.apply(host, std::move(outcome), "host", now);
  if (accepted) recorder_.command(model::ActivateRotation{record.id, record.identity});
}

void HostEvents::on(Host& host, const model::RotationEnded& event, Now now) {
  const model::InstanceId id = host.id();
  steps_.apply(host, fleet::rotation_ended(host.instance, event), "host", now);
  // Holders get accounts only now, so that the key that they are told stays.
  const Host* still = hosts_.find(id);
  if (still != nullptr && still->instance.link.is_connected()) lending_.connected(*still, now);
}

void HostEvents::on(Host& host, const model::CommandProposed& event, Now now) {
  if (host.instance.link.is_connected()) commands_.start(host.id(), event, now);
}

void HostEvents::on(Host& host, const model::CommandEnded& event, Now now) {
  commands_.ended(host.id(), event, now);
}

void HostEvents::on(Host& host, const model::HostReady& event, Now now) {
  const model::InstanceId id = host.id();
  judge_ram(host, event, now);
  if (Host* live = hosts_.change(id)) cards_.take(*live, event.cards, now);
  if (Host* live = hosts_.change(id))
    steps_.apply(*live, fleet::ready(live->instance, event, now), "host", now);
  // One that has vanished meanwhile takes nothing: its connection ends soon.
  Host* taken = hosts_.change(id);
  if (taken == nullptr || !taken->instance.link.has_agent() ||
      taken->instance.link.connection() != event.connection)
    return;
  learn_scratch(*taken);
  learn_ram(*taken, now);
  cards_.learn(*taken, now);
  attempts_.compare(*taken, event, now);
  if (const Host* still = hosts_.find(id)) {
    lending_.connected(*still, now);
    takeover_.ask(*still, now);
  }
  if (Host* still = hosts_.change(id)) attempts_.fill(*still, now);
  if (Host* still = hosts_.change(id)) interruptions_.connected(*still, now);
}

/// With much less RAM than the menu says it is not of its type, or lies.
void HostEvents::judge_ram(Host& host, const model::HostReady& event, Now now) {
  if (!host.instance.type || !event.ram) return;
  const auto& type = policy_.types[*host.instance.type];
  if (!RamReports::is_too_little(type, *event.ram)) return;
  const std::string text = "it reports " + format_size(*event.ram) +
                           " of RAM, less than half of the " + format_size(type.resources.ram) +
                           " that type " + type.name + " has on the menu";
  const model::InstanceId id = host.id();
  steps_.apply(host, fleet::broken(host.instance, {kRamCheck, text}, now), "host", now);
  if (Host* still = hosts_.change(id))
    steps_.apply(*still, fleet::unfit(still->instance, now), "host", now);
}

/// New hosts of its type are expected to be alike.
void HostEvents::learn_ram(const Host& host, Now now) {
  const auto& instance = host.instance;
  if (!instance.type || !instance.occupancy.reported_ram()) return;
  const auto& type = policy_.types[*instance.type];
  const auto& set = policy_.sets[instance.set].name;
  auto learned = menu_.ram().take(set, type, host.id(), *instance.occupancy.reported_ram());
  if (!learned) return;
  const std::string plans = format_size(learned->ram);
  recorder_.change(*std::move(learned));
  recorder_.record("host", "set " + set, model::Event::kRamLearned, type.name,
                   host.id().text() + " reports " +
                       format_size(*instance.occupancy.reported_ram()) + " of RAM, type " +
                       type.name + " has " + format_size(type.resources.ram) +
                       " on the menu: plans count with " + plans,
                   now);
  menu_.rebuild();
  hosts_.touch_all();
  plan_.want();
}

/// Likewise.
void HostEvents::learn_scratch(const Host& host) {
  const auto& instance = host.instance;
  if (!instance.type || !instance.occupancy.reported_scratch()) return;
  const auto& type = policy_.types[*instance.type];
  auto& reports = menu_.scratch();
  const auto expected = [&] {
    return reports.expected(instance.set, type.name, type.resources.scratch);
  };
  const auto before = expected();
  reports.take(instance.set, type.name, host.id(), *instance.occupancy.reported_scratch());
  if (before == expected()) return;
  hosts_.touch_all();
  plan_.want();
}

void HostEvents::on(Host& host, const model::HostCards& event, Now now) {
  if (!host.instance.link.has_agent()) return;
  const model::InstanceId id = host.id();
  cards_.take(host, event.report, now);
  Host* still = hosts_.change(id);
  if (still == nullptr) return;
  cards_.learn(*still, now);
  attempts_.fill(*still, now);
}

void HostEvents::on(Host& host, const model::HostLost& event, Now now) {
  commands_.lost(host.id(), "the connection was lost", now);
  const auto& pool = policy_.pools[host.instance.pool];
  steps_.apply(host, fleet::lost(host.instance, event, pool, now), "host", now);
}

void HostEvents::on(Host& host, const model::HostBroken& event, Now now) {
  auto outcome = fleet::broken(host.instance, event, now);
  if (outcome.event == model::Event::kTerminating)  // It says that it ends, this says why.
    recorder_.record("host", host.id().text(), model::Event::kBroken, event.check, event.text, now);
  steps_.apply(host, std::move(outcome), "host", now);
}

void HostEvents::on(Host& host, const model::HostInterruption& event, Now now) {
  interruptions_.on(host, event, now);
}

void HostEvents::on(Host& host, const model::OutputProgress& event, Now now) {
  outputs_.on(host, event, now);
}

}  // namespace hostler::dispatch
