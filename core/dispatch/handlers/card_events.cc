#include "core/dispatch/handlers/card_events.h"

#include <algorithm>
#include <string>
#include <utility>

namespace hostler::dispatch {
namespace {

/// HostBroken::check of a host that has no card for work.
constexpr const char* kGpusCheck = "gpus";

std::string text_of(const model::GpuReport& report) {
  const std::string what = report.kind.empty() ? "cards" : report.kind + " cards";
  return "type " + report.type + " has " + std::to_string(report.menu_count) + " " + what +
         " on the menu: plans count with " + std::to_string(report.count) +
         (report.kind.empty() ? " of one kind" : "");
}

/// What a host has later, or lists with a card of which it cannot tell the kind any more, says
/// nothing of others: a card may be lost, and a job may be root there.
bool shows_its_type(const fleet::Instance& instance) {
  const auto& cards = instance.occupancy.cards();
  const auto is_lost = [](const model::Card& card) {
    return !card.problem.empty() && card.kind.empty();
  };
  return cards.are_new() && instance.record.first_job.us == 0 &&
         instance.record.health == model::Health::kHealthy &&
         std::ranges::none_of(cards.all(), is_lost);
}

}  // namespace

void CardEvents::take(Host& host, const model::CardReport& report, Now now) {
  auto& instance = host.instance;
  const model::InstanceId id = host.id();
  const bool has_cards = !instance.type || policy_.types[*instance.type].resources.gpus > 0;
  // Without cards on the menu a tool of the image that fails says nothing of the host.
  const bool counts = has_cards || report.problem.empty();
  const auto news =
      instance.occupancy.report_cards(counts ? report : model::CardReport{}, now.mono);
  if (has_cards)
    for (const auto& one : news)
      recorder_.record("host", id.text(), one.event, one.uuid, one.text, now);
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
  if (!instance.type || !shows_its_type(instance)) return;
  const auto& set = policy_.sets[instance.set].name;
  const auto& type = policy_.types[*instance.type];
  const bool kinds_changed = menu_.gpus().take_kinds(set, type, cards);
  auto learned = menu_.gpus().take(set, type, host.id(), cards.all());
  if (learned.empty() && !kinds_changed) return;
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
