#include "tests/sim/cards.h"

#include <algorithm>
#include <utility>

namespace hostler::sim {
namespace {

/// Changes are committed, and starts leave, within this time after the decision.
constexpr Duration kLeaves = 200ms;

}  // namespace

CardTally& CardTally::operator+=(const CardTally& o) {
  appeared += o.appeared, vanished += o.vanished, failed += o.failed, healed += o.healed;
  unread += o.unread, fewer += o.fewer, silent += o.silent, claimed += o.claimed;
  given += o.given, kept += o.kept;
  return *this;
}

void Cards::add_to(model::InstanceType& type) {
  if (type.name == "small") {
    type.resources.gpus = 2;
  } else if (type.name == "large") {
    type.resources.gpus = 6;
    type.gpu_groups = {{"a100", 0, 3}, {"t4", 0, 3}};
  }
}

void Cards::vary(model::WorkShape& shape, std::size_t number) {
  // Those that name types may name one without cards.
  if (number % 3 == 2 || !shape.constraints.types.empty()) return;
  shape.needs.gpus = number % 6 == 4 ? 2 : 1;
  shape.needs.vcpus = std::min<model::Vcpus>(shape.needs.vcpus, 2);
  if (number % 6 == 3) shape.constraints.gpu.kind = "a100";
}

Cards::Having& Cards::of(const Machine& machine) {
  const auto [at, fresh] = machines_.try_emplace(machine.id);
  Having& out = at->second;
  const auto& type = machine.request.type;
  if (!fresh || type.resources.gpus == 0) return out;
  const bool fewer = random_.chance(0.1);
  out.silent = !fewer && type.name == "small" && random_.chance(0.1);
  tally_.fewer += fewer ? 1 : 0;
  tally_.silent += out.silent ? 1 : 0;
  for (int i = 0; i < type.resources.gpus - (fewer ? 1 : 0); ++i) {
    auto& card = out.cards.emplace_back();
    card.index = i;
    card.uuid = machine.id + "-" + std::to_string(i);
    card.kind = i % 2 == 0 || type.name == "small" ? "a100-pcie" : "t4";
  }
  return out;
}

model::CardReport Cards::read(const Machine& machine) {
  model::CardReport out;
  Having& its = of(machine);
  if (its.cards.empty() || its.silent) return out;
  out.source = "command";
  if (its.fails > 0) {
    --its.fails;
    ++tally_.unread;
    out.problem = "it took too long";
    return out;
  }
  for (const auto& card : its.cards)
    if (!its.gone.contains(card.uuid)) out.cards.push_back(card);
  return out;
}

void Cards::misfortune(const Machine& machine) {
  Having& its = of(machine);
  if (its.cards.empty()) return;
  auto& card = its.cards[random_.below(its.cards.size())];
  switch (random_.below(4)) {
    case 0:
      ++(card.problem.empty() ? tally_.failed : tally_.healed);
      card.problem = card.problem.empty() ? "Xid 79" : "";
      return;
    case 1:
      if (its.gone.erase(card.uuid) > 0) {
        ++tally_.appeared;
      } else {
        its.gone.insert(card.uuid);
        ++tally_.vanished;
      }
      return;
    case 2:
      its.fails = 1 + random_.below(4);
      return;
    default:
      for (auto& one : its.cards) one.problem.clear();
      its.gone.clear();
  }
}

std::vector<std::string> Cards::claim(const Machine& machine) {
  Having& its = of(machine);
  if (!is_day_ || its.cards.empty()) return {};
  ++tally_.claimed;
  return {its.cards[random_.below(its.cards.size())].uuid};
}

void Cards::heard(const Machine& machine, const model::CardReport& report, Mono now) {
  if (report.source.empty()) return;
  Having& its = of(machine);
  if (!report.problem.empty()) {
    its.unread_since = std::min(its.unread_since, now);
    return;
  }
  its.unread_since = Mono::max();
  its.told = true;
  std::map<std::string, Mono> bad;
  const auto since = [&](const std::string& uuid) {
    const auto known = its.bad_since.find(uuid);
    return known == its.bad_since.end() ? now : known->second;
  };
  for (const auto& card : its.cards)
    if (std::ranges::find(report.cards, card.uuid, &model::Card::uuid) == report.cards.end())
      bad[card.uuid] = since(card.uuid);
  for (const auto& card : report.cards) {
    if (!card.problem.empty()) bad[card.uuid] = since(card.uuid);
    its.kinds[card.uuid] = card.kind;
  }
  its.bad_since = std::move(bad);
}

void Cards::check_leaving(const Machine& machine, const model::StartAttempt& start,
                          const model::AttemptChanged* row, const model::WorkItem* job, Mono now) {
  if (!is_day_) return;
  const std::string name = start.attempt.text();
  if (row != nullptr && row->cards != start.cards)
    complain_(name + " leaves with other cards than its row has");
  Having& its = of(machine);
  if (!start.cards.empty() && its.unread_since < now - kLeaves)
    complain_(name + " gets cards that cannot be read");
  std::set<std::string> kinds;
  for (const auto& uuid : start.cards) {
    const auto bad = its.bad_since.find(uuid);
    if (bad != its.bad_since.end() && now - bad->second > kLeaves)
      complain_(name + " gets the bad card " + uuid);
    if (!its.kinds.contains(uuid)) complain_(name + " gets a card that nobody has listed");
    kinds.insert(its.kinds[uuid]);
  }
  if (kinds.size() > 1) complain_(name + " gets cards of two kinds");
  if (job == nullptr) return;
  const auto& shape = job->shape;
  if (its.told && std::ssize(start.cards) != shape.needs.gpus)
    complain_(name + " gets " + std::to_string(start.cards.size()) + " cards and needs " +
              std::to_string(shape.needs.gpus));
  if (!its.told && !start.cards.empty()) complain_(name + " gets cards that are not known");
  if (!kinds.empty() && !model::fits_kind(shape.constraints.gpu.kind, *kinds.begin()))
    complain_(name + " gets a card of another kind");
  tally_.given += start.cards.empty() ? 0 : 1;
}

void Cards::check_start(const Machine& machine, const model::StartAttempt& start) const {
  for (const auto& [id, run] : machine.runs) {
    if (!run.running) continue;
    for (const auto& uuid : start.cards)
      if (std::ranges::find(run.cards, uuid) != run.cards.end())
        complain_(start.attempt.text() + " gets the card " + uuid + " of " + id.text());
  }
}

}  // namespace hostler::sim
