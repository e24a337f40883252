#include "core/dispatch/handlers/card_events.h"

#include <string>
#include <utility>

namespace hostler::dispatch {
namespace {

/// HostBroken::check of a host that has no card for work.
constexpr const char* kGpusCheck = "gpus";

std::string text_of(const model::GpuReport& report) {
  const std::string what = report.kind.empty() ? "cards" : report.kind + " cards";
  return "type " + report.type + " has " + std::to_string(report.menu_count) + " " + what +
         " on the menu: plans count with " + std::to_string(report.count);
}

}  // namespace

void CardEvents::take(Host& host, const model::CardReport& report, Now now) {
  auto& instance = host.instance;
  const model::InstanceId id = host.id();
  for (const auto& news : instance.occupancy.report_cards(report, now.mono))
    recorder_.record("host", id.text(), news.event, news.uuid, news.text, now);
  if (!instance.type) return;
  const auto why = instance.occupancy.cards().why_broken(policy_.types[*instance.type]);
  if (why.empty()) return;
  auto outcome = fleet::broken(instance, {kGpusCheck, why}, now);
  if (outcome.event == model::Event::kTerminating)  // It says that it ends, this says why.
    recorder_.record("host", id.text(), model::Event::kBroken, kGpusCheck, why, now);
  steps_.apply(host, std::move(outcome), "host", now);
  if (Host* still = hosts_.change(id))
    steps_.apply(*still, fleet::unfit(still->instance, now), "host", now);
}

void CardEvents::learn(const Host& host, Now now) {
  const auto& instance = host.instance;
  const auto& cards = instance.occupancy.cards();
  if (!instance.type || !cards.are_known() || !cards.problem().empty()) return;
  const auto& set = policy_.sets[instance.set].name;
  auto learned = menu_.gpus().take(set, policy_.types[*instance.type], host.id(), cards.all());
  if (learned.empty()) return;
  for (auto& report : learned) {
    recorder_.record("host", "set " + set, model::Event::kGpusLearned, report.type,
                     host.id().text() + " lists " + std::to_string(cards.all().size()) +
                         " cards, " + text_of(report),
                     now);
    recorder_.change(std::move(report));
  }
  menu_.rebuild();
  hosts_.touch_all();
  plan_.want();
}

}  // namespace hostler::dispatch
