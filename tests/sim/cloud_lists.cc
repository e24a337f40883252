#include <utility>

#include "tests/sim/cloud.h"

/// What lists show of a cloud, and what look-ups by id.
namespace hostler::sim {

using model::CloudErrorClass;
using model::CloudState;

void Cloud::list(const dispatch::ListCall& call, const Reply& reply) {
  const Mono sent = time_.now();
  const Duration answer = latency();
  if (sent < hangs_until_ && chance_.faults())
    return reply(call.timeout,
                 dispatch::SetListed{call.set, sent,
                                     tl::unexpected(error(CloudErrorClass::kTimeout, "hangs"))});
  // The list shows the state at some moment between the call and its answer.
  time_.after(chance_.between(0s, answer), [this, call, reply, sent, rest = answer / 2] {
    if (chance_.fault(0.1))
      return reply(rest, dispatch::SetListed{
                             call.set, sent,
                             tl::unexpected(error(CloudErrorClass::kTransient, "list failed"))});
    std::vector<model::ListedInstance> out;
    for (const Machine* machine : living_) {
      const bool young = time_.now() - machine->created < kConsistency;
      if (young && chance_.fault(0.5)) continue;
      out.push_back(show(*machine));
      if (young && chance_.fault(0.3)) out.back().address.clear();
    }
    if (lies()) distort(out);
    if (false_stops_ && chance_.faults()) stop_falsely(out);
    if (crowd_) crowd_(out);
    shuffle(out);
    reply(rest, dispatch::SetListed{call.set, sent, model::share(std::move(out))});
  });
}

void Cloud::stop_falsely(std::vector<model::ListedInstance>& list) {
  const std::string before = std::exchange(shown_as_stopped_, {});
  for (auto& one : list) {
    const Machine* machine = existing(one.id);
    const bool works =
        machine != nullptr && (machine->works() || (runs_tasks_ && runs_tasks_(*machine)));
    if (!works || one.id == before || false_stops_->below(4) > 0) continue;
    one.state = CloudState::kStopped;
    shown_as_stopped_ = one.id;
    return;
  }
}

/// Every fourth list has an order of its own.
void Cloud::shuffle(std::vector<model::ListedInstance>& list) {
  const bool is_shuffled = ++lists_ % 4 == 0;
  for (std::size_t i = list.size(); i > 1; --i) {
    const auto other = chance_.below(i);
    if (is_shuffled) std::swap(list[i - 1], list[other]);
  }
}

void Cloud::lie(Duration spell) {
  lie_ = static_cast<Lie>(chance_.below(5));
  lies_until_ = time_.now() + spell;
}

void Cloud::distort(std::vector<model::ListedInstance>& list) {
  switch (lie_) {
    case Lie::kEmpty:
      return list.clear();
    case Lie::kHalf:
      std::erase_if(list, [&](const auto& one) { return (one.id.back()) % 2 == 0; });
      return;
    case Lie::kSome:
      std::erase_if(list, [&](const auto&) { return chance_.chance(0.3); });
      return;
    case Lie::kDoubled: {
      const auto once = list;
      list.insert(list.end(), once.begin(), once.end());
      return;
    }
    case Lie::kPast:
      for (const auto& machine : machines_)
        if (!machine->exists() && !machine->unasked && chance_.chance(0.2)) {
          list.push_back(show(*machine));
          list.back().state = CloudState::kRunning;
        }
      return;
  }
}

void Cloud::look_up(const dispatch::LookUpCall& call, const Reply& reply) {
  if (!call.request.tag_filter.empty()) complain_("a look-up by id filters by tags");
  const Mono sent = time_.now();
  const Duration answer = latency();
  time_.after(chance_.between(0s, answer), [this, call, reply, sent, rest = answer / 2] {
    const auto answered = [&](model::CloudResult<std::vector<model::ListedInstance>> result) {
      reply(rest, dispatch::InstancesLookedUp{call.set, sent, call.instances, std::move(result)});
    };
    if (chance_.fault(0.2))
      return answered(tl::unexpected(error(CloudErrorClass::kTransient, "look-up failed")));
    std::vector<model::ListedInstance> out;
    for (const auto& id : call.request.ids) {
      const Machine* machine = numbered(id);
      if (machine == nullptr || (machine->id != id && machine->request_id != id)) continue;
      if (machine->exists() || chance_.chance(0.5)) out.push_back(show(*machine));
    }
    if (ids_lie_ && lies() && (lie_ == Lie::kEmpty || lie_ == Lie::kHalf)) distort(out);
    answered(std::move(out));
  });
}

}  // namespace hostler::sim
