#include "tests/sim/trace.h"

#include <iterator>
#include <variant>

namespace hostler::sim {

std::string describe(const dispatch::Event& event) {
  static const char* const kNames[] = {"driver loaded",
                                       "set opened",
                                       "successor opened",
                                       "credentials renewed",
                                       "create seen",
                                       "create ended",
                                       "set listed",
                                       "looked up",
                                       "destroy ended",
                                       "tags ended",
                                       "power ended",
                                       "prices seen",
                                       "quota group",
                                       "console read",
                                       "images found",
                                       "offerings",
                                       "leftovers listed",
                                       "leftover destroyed",
                                       "notices seen",
                                       "watch ended",
                                       "host",
                                       "metrics read",
                                       "zones read",
                                       "past read",
                                       "drain ended",
                                       "submit",
                                       "submit lease",
                                       "return lease",
                                       "renew lease",
                                       "cancel job",
                                       "release work",
                                       "cancel held",
                                       "outputs removed",
                                       "give up output",
                                       "set idle behavior",
                                       "kill instance",
                                       "push received",
                                       "report ready",
                                       "open gate",
                                       "accept account",
                                       "believe list",
                                       "give up unreachable",
                                       "plan made",
                                       "policy changed",
                                       "jobs forgotten",
                                       "disk changed",
                                       "jump host changed"};
  static_assert(std::size(kNames) == std::variant_size_v<dispatch::Event>);
  std::string text = kNames[event.index()];
  if (const auto* host = std::get_if<model::HostEvent>(&event))
    text += " " + host->instance.text() + " event " + std::to_string(host->body.index());
  if (const auto* pushed = std::get_if<dispatch::PushReceived>(&event)) {
    const auto& push = pushed->push;
    text += ": pool " + pushed->pool + " by " + pushed->principal + ", session " + push.session +
            ", sequence " + std::to_string(push.sequence) + ", seen " + std::to_string(push.seen);
    for (const auto& agent : push.agents)
      text += ", " + agent.name + (agent.is_idle ? " idle" : " busy");
    text += ", " + std::to_string(push.tasks.size()) + " tasks";
  }
  if (const auto* made = std::get_if<dispatch::PlanMade>(&event))
    text += ": " + std::to_string(made->plan.places.size()) + " places, " +
            std::to_string(made->plan.wakes.size()) + " wakes, " +
            std::to_string(made->plan.creates.size()) + " creates, " +
            std::to_string(made->plan.switch_offs.size()) + " switched off, " +
            std::to_string(made->plan.shutdowns.size()) + " shutdowns";
  return text;
}

void Digest::add(const std::string& line) {
  for (const char c : line + "\n") {
    value_ ^= static_cast<unsigned char>(c);
    value_ *= 1'099'511'628'211U;
  }
}

}  // namespace hostler::sim
