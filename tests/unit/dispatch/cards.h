#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tests/unit/dispatch/story.h"
#include "tests/unit/fleet/cards.h"

/// Hosts with cards: the type "small" has two, "large" four.
namespace hostler::dispatch {

/// As fleet::card(), with a device file that a guard can keep from jobs.
inline model::Card card(int index, std::string problem = {}, std::string kind = "a100") {
  model::Card out = fleet::card(index, std::move(problem), std::move(kind));
  out.files = {"/dev/card" + std::to_string(index)};
  return out;
}
inline model::CardReport listed(std::vector<model::Card> cards) {
  model::CardReport out = fleet::reading(std::move(cards));
  out.guard = model::CardGuard::kBpf;
  return out;
}
inline model::CardReport unread() { return fleet::failed_reading(); }

inline model::SitePolicy site_with_cards() {
  auto out = small_site();
  out.types[0].resources.gpus = 2;
  out.types[1].resources.gpus = 4;
  return out;
}
/// Its pool has the type with two cards only.
inline model::SitePolicy two_cards() {
  auto out = site_with_cards();
  out.pools[0].types = {"small"};
  return out;
}

struct CardSite : Story {
  explicit CardSite(model::SitePolicy policy = two_cards()) : Story(std::move(policy)) {}

  model::WorkItem job_of(std::int32_t gpus, bool restartable = false) const {
    auto out = job(0, restartable);
    out.shape.needs.gpus = gpus;
    out.shape.needs.ram = 1024;
    return out;
  }
  void ready_with(InstanceId id, model::CardReport cards,
                  std::vector<model::AttemptReport> attempts = {}) {
    model::HostReady event;
    event.boot_id = "boot-1";
    event.connection = ++connections;
    event.attempts = std::move(attempts);
    event.cards = std::move(cards);
    host(id, std::move(event));
  }
  void boot_with(InstanceId id, model::CardReport cards) {
    say(CreateSeen{id, seen(id)});
    create_ended(id);
    host(id, model::HostVerified{model::VerifyMethod::kChallenge, "ssh-ed25519 AAAA"});
    ready_with(id, std::move(cards));
  }
  /// The last host for which a create was sent.
  InstanceId made() const { return all<CreateCall>().back().instance; }
  /// The cards with which each start was sent, in order.
  std::vector<std::vector<std::string>> starts() const {
    std::vector<std::vector<std::string>> out;
    for (const auto& one : commands<model::StartAttempt>()) out.push_back(one.cards);
    return out;
  }
  model::InstanceView view(InstanceId id) { return *dispatcher.queries().instance(id, now); }

  std::uint64_t connections = 0;
};

}  // namespace hostler::dispatch
