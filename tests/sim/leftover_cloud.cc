#include "tests/sim/leftover_cloud.h"

#include <algorithm>
#include <utility>

namespace hostler::sim {
namespace {

constexpr Duration kApart = 5min;
constexpr int kAtOnce = 4;
constexpr std::size_t kHuge = 10'001;

model::CloudError failure() {
  return error(model::CloudErrorClass::kTransient, "no leftovers today", true);
}

}  // namespace

void LeftoverCloud::set_rule(model::SitePolicy& policy) {
  policy.sets.front().leftovers = model::LeftoverRule::kDestroy;
  policy.sets.front().leftovers_interval = 1min;
  policy.sets.front().leftovers_after = kApart;
}

void LeftoverCloud::follow_machines() {
  const auto& machines = cloud_.machines();
  for (; machines_ < machines.size(); ++machines_) {
    Thing thing{.machine = machines[machines_].get()};
    thing.outlives = random_.chance(0.5);
    thing.names_id = random_.chance(0.7);
    thing.names_key = !thing.names_id || random_.chance(0.5);
    if (random_.chance(0.7)) things_.emplace("d-" + std::to_string(machines_), thing);
  }
  for (auto& [id, thing] : things_)
    thing.exists = thing.exists && (thing.outlives || thing.machine->exists());
}

std::size_t LeftoverCloud::left() {
  follow_machines();
  return static_cast<std::size_t>(std::ranges::count_if(things_, [](const auto& entry) {
    return entry.second.exists && !entry.second.machine->exists();
  }));
}

model::Leftover LeftoverCloud::show(const std::string& id, const Thing& thing) const {
  model::Leftover out{.type = "disk", .id = id, .instance_id = "", .tags = {}, .created = {}};
  if (thing.names_id) out.instance_id = thing.machine->id;
  const auto& tags = thing.machine->request.tags;
  for (const char* name : {model::tag::kSet, model::tag::kOwner, model::tag::kEpoch})
    out.tags[name] = tags.at(name);
  if (thing.names_key) out.tags[model::tag::kKey] = tags.at(model::tag::kKey);
  return out;
}

void LeftoverCloud::lie(std::vector<model::Leftover>& list) {
  const auto show_all_as = [&](const char* tag, const char* value) {
    for (const auto& [id, thing] : things_) {
      if (!thing.exists) continue;
      list.push_back(show(id, thing));
      list.back().id = "x" + id;
      if (tag != nullptr) list.back().tags[tag] = value;
    }
  };
  switch (random_.below(9)) {
    case 0:
      return list.clear();
    case 1:
      return std::erase_if(list, [](const auto& one) { return one.id.back() % 2 == 0; }), void();
    case 2: {
      const auto once = list;
      return list.insert(list.end(), once.begin(), once.end()), void();
    }
    case 3:  // Of machines that exist, too.
      for (const auto& [id, thing] : things_)
        if (thing.exists && thing.machine->exists()) list.push_back(show(id, thing));
      return;
    case 4:
      return show_all_as(model::tag::kOwner, "owner-2");
    case 5:
      return show_all_as(model::tag::kSet, "east");
    case 6:
      return show_all_as(model::tag::kEpoch, "1000000");
    case 7:
      if (!list.empty()) list.resize(kHuge, list.front());
      return;
    default:
      return;
  }
}

void LeftoverCloud::list(const dispatch::LeftoversCall& call, bool faults, const Reply& reply) {
  follow_machines();
  const auto late = 1ms * static_cast<std::int64_t>(random_.below(faults ? 30'000 : 500));
  dispatch::LeftoversListed answer{call.set, call.number, std::vector<model::Leftover>{}};
  for (const auto& [id, thing] : things_)
    if (thing.exists && !thing.machine->exists()) answer.result->push_back(show(id, thing));
  // The same lie for a while, so that two lists tell it.
  if (faults) lie(*answer.result);
  if (faults && random_.chance(0.1)) answer.result = tl::unexpected(failure());
  reply(late, std::move(answer));
}

void LeftoverCloud::heard(const dispatch::LeftoversListed& answer, Mono now) {
  if (!answer.result || answer.result->size() >= kHuge) return;
  std::map<std::string, Mono> seen;
  for (const auto& one : *answer.result) {
    const auto before = seen_since_.find(one.id);
    seen[one.id] = before == seen_since_.end() ? now : before->second;
  }
  seen_since_ = std::move(seen);
}

void LeftoverCloud::destroy(const dispatch::DestroyLeftoverCall& call, bool faults, Mono now,
                            const Reply& reply) {
  follow_machines();
  const std::string& id = call.request.id;
  const auto thing = things_.find(id);
  if (thing == things_.end()) {
    complain_("a disk of somebody else is destroyed: " + id);
  } else {
    if (thing->second.machine->exists())
      complain_(id + " is destroyed, and its machine " + thing->second.machine->id + " exists");
    const auto seen = seen_since_.find(id);
    if (seen == seen_since_.end() || now - seen->second < kApart)
      complain_(id + " is destroyed, and was not seen twice, minutes apart");
  }
  if (!disk_.has_leftover_intent(id)) complain_(id + " is destroyed without a durable intent");
  if (call.request.expected_set_id != call.set) complain_(id + " is destroyed as another set's");
  if (++under_way_ > kAtOnce) complain_("too many disks are destroyed at once");
  const bool lost = faults && random_.chance(0.3);
  const bool done = !faults || random_.chance(0.6);
  if (done && thing != things_.end()) thing->second.exists = false;
  dispatch::LeftoverDestroyed answer{call.set, call.request.type, id, {}};
  if (lost || !done) answer.error = failure();
  reply(lost ? call.timeout : 200ms, std::move(answer));
}

}  // namespace hostler::sim
