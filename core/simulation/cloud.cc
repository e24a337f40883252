#include "core/simulation/cloud.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "core/model/currency.h"
#include "core/simulation/load.h"

namespace hostler::simulation {

using model::CloudErrorClass;
using model::CloudState;

namespace {

constexpr Duration kQuick = 200ms;  ///< An answer that needs no machine.

model::CloudError error(CloudErrorClass cls, std::string message, bool unknown = false) {
  model::CloudError out;
  out.cls = cls;
  out.message = std::move(message);
  out.outcome_unknown = unknown;
  return out;
}

}  // namespace

Cloud::Cloud(Timeline& time, const model::SitePolicy& policy, std::string set,
             const CloudModel& model, std::uint64_t seed, std::function<Wall(Mono)> wall,
             Reply reply, std::function<void(model::InstanceId)> lost)
    : time_(time),
      start_(time.now()),
      policy_(policy),
      set_(std::move(set)),
      model_(model),
      random_(seed),
      wall_(std::move(wall)),
      reply_(std::move(reply)),
      lost_(std::move(lost)) {
  take_recorded_prices();
  for (const PriceChange& change : model_.prices)
    time_.at(start_ + change.at, [this, &change] { change_price(change); });
}

/// Where the scenario has prices of a type, the recorded ones do not count.
void Cloud::take_recorded_prices() {
  const double rate = model::rate_of(policy_, model_.recorded_currency).value_or(1);
  const auto has_own = [own = model_.prices](const std::string& type) {
    return std::ranges::any_of(own, [&](const PriceChange& one) { return one.type == type; });
  };
  for (const RecordedPrice& price : model_.recorded_prices)
    for (const model::InstanceType& type : policy_.types)
      if (type.provider_type == price.provider_type && type.market == price.market &&
          !has_own(type.name))
        model_.prices.push_back({price.at, type.name, model::to_site(price.per_hour, rate)});
  std::ranges::stable_sort(model_.prices, {}, &PriceChange::at);
}

Duration Cloud::since_start() const { return time_.now() - start_; }

void Cloud::take(const dispatch::OpenSet& call) {
  model::SetInfo info;
  info.account_id = "simulated";
  info.currency = policy_.currency;
  info.list_consistency = 1s;
  info.max_concurrency = 16;
  info.spot = info.stop = info.has_power = info.create_token_native = true;
  info.has_price_history = !model_.prices.empty();
  reply_(kQuick, dispatch::SetOpened{call.set, info});
}

std::optional<model::CloudError> Cloud::refusal() {
  if (!random_.chance(model_.calls_fail)) return std::nullopt;
  return error(CloudErrorClass::kTransient, "the call failed, as the scenario wants");
}

std::optional<model::CloudError> Cloud::no_room(const model::InstanceType& type) const {
  const auto count = [](std::uint64_t n) { return std::to_string(n); };
  if (model_.quota > 0 && machines_.size() >= model_.quota)
    return error(CloudErrorClass::kQuota, "the quota of " + count(model_.quota) + " is used up");
  const auto stock = model_.stock.find(type.name);
  const auto alive = alive_of_.find(type.name);
  if (stock != model_.stock.end() &&
      (alive == alive_of_.end() ? 0 : alive->second) >= stock->second)
    return error(CloudErrorClass::kCapacity, "no stock of " + type.name);
  return std::nullopt;
}

void Cloud::take(const dispatch::CreateCall& call) {
  const auto ended = [&](Duration after, std::optional<model::CloudError> problem) {
    reply_(after, dispatch::CreateEnded{call.instance, std::move(problem)});
  };
  if (auto refused = refusal()) return ended(kQuick, std::move(refused));
  if (!made_of_.contains(call.request->idempotency_key)) {
    if (auto full = no_room(call.request->type)) return ended(kQuick, std::move(full));
    if (random_.chance(model_.creates_fail))
      return ended(kQuick, error(CloudErrorClass::kCapacity, "no capacity, as the scenario wants"));
  }
  const Machine& machine = make(*call.request);
  if (random_.chance(model_.answers_lost))
    return ended(call.timeout, error(CloudErrorClass::kTimeout, "no answer in time", true));
  const Duration takes = pick(model_.create, random_);
  reply_(takes, dispatch::CreateSeen{call.instance, *show(machine)});
  ended(takes, std::nullopt);
}

Machine& Cloud::make(const model::CreateRequest& request) {
  if (const auto before = made_of_.find(request.idempotency_key); before != made_of_.end())
    if (Machine* machine = existing(before->second)) return *machine;
  auto made = std::make_unique<Machine>();
  made->id = "i-" + set_ + "-" + std::to_string(++made_);
  made->number = made_;
  made->request = request;
  made->request.user_data.clear();
  made->instance = *model::InstanceId::parse(request.host_instance_id);
  made->comes_up = !random_.chance(model_.boots_fail);
  made->price_per_hour = price_of(request.type);
  made->paid_until = time_.now();
  made_of_[request.idempotency_key] = made->id;
  ++alive_of_[request.type.name];
  Machine& machine = *machines_.try_emplace(made_, std::move(made)).first->second;
  boot(machine);
  if (model_.machines_lost_per_day > 0) {
    const Spread life{.mean =
                          std::chrono::duration_cast<Duration>(24h / model_.machines_lost_per_day)};
    time_.after(pick(life, random_), [this, id = machine.id] {
      if (Machine* there = existing(id)) end(*there);
    });
  }
  return machine;
}

void Cloud::boot(Machine& machine) {
  machine.enter(CloudState::kPending);
  const Duration takes = pick(model_.boot, random_);
  machine.ready_at = time_.now() + takes;
  time_.after(takes / 2, [this, id = machine.id] {
    Machine* there = existing(id);
    if (there != nullptr && there->state == CloudState::kPending)
      there->enter(CloudState::kRunning);
  });
}

void Cloud::stop_work(Machine& machine) {
  lost_(machine.instance);
  for (auto& [attempt, run] : machine.runs) run.running = false;
}

void Cloud::end(Machine& machine) {
  pay(machine);
  lost_(machine.instance);
  machine.enter(CloudState::kGone);
  --alive_of_[machine.request.type.name];
  made_of_.erase(machine.request.idempotency_key);
  machines_.erase(machine.number);
}

void Cloud::pay(Machine& machine) {
  const Duration unpaid = time_.now() - std::exchange(machine.paid_until, time_.now());
  if (!machine.is_on()) return;
  const double hours = std::chrono::duration<double, std::ratio<3600>>(unpaid).count();
  paid_.hours += hours;
  paid_.vcpu_hours += hours * static_cast<double>(machine.request.type.resources.vcpus);
  paid_.cost += hours * static_cast<double>(machine.price_per_hour.value);
}

const Cloud::Paid& Cloud::paid() {
  for (auto& [number, machine] : machines_) pay(*machine);
  return paid_;
}

void Cloud::change_price(const PriceChange& change) {
  prices_[change.type] = change.per_hour;
  for (auto& [id, machine] : machines_) {
    if (machine->request.type.name != change.type) continue;
    pay(*machine);
    machine->price_per_hour = price_of(machine->request.type);
    machine->shown.reset();
  }
}

model::Micros Cloud::price_of(const model::InstanceType& type) const {
  const auto changed = prices_.find(type.name);
  const auto set = std::ranges::find(policy_.sets, set_, &model::SetPolicy::name);
  return (changed == prices_.end() ? type.price_per_hour : changed->second) +
         model::volume_price(*set, type);
}

/// Ids end with the number of their machine.
Machine* Cloud::existing(const std::string& id) {
  const auto number = std::strtoull(id.c_str() + id.find_last_of('-') + 1, nullptr, 10);
  const auto found = machines_.find(number);
  return found == machines_.end() || found->second->id != id ? nullptr : found->second.get();
}

Machine* Cloud::at(const std::string& id) {
  Machine* machine = existing(id);
  return machine != nullptr && machine->state == CloudState::kRunning ? machine : nullptr;
}

std::vector<const Machine*> Cloud::running() const {
  std::vector<const Machine*> out;
  for (const auto& [number, machine] : machines_)
    if (machine->state == CloudState::kRunning) out.push_back(machine.get());
  return out;
}

const std::shared_ptr<const model::ListedInstance>& Cloud::show(const Machine& machine) {
  if (!machine.shown)
    machine.shown = std::make_shared<const model::ListedInstance>(describe(machine));
  return machine.shown;
}

model::ListedInstance Cloud::describe(const Machine& machine) {
  const auto tag = [&](const char* name) {
    const auto found = machine.request.tags.find(name);
    return found == machine.request.tags.end() ? std::string() : found->second;
  };
  model::ListedInstance out;
  out.id = machine.id;
  out.idempotency_key = machine.request.idempotency_key;
  out.set_id = tag(model::tag::kSet);
  out.owner = machine.request.owner;
  out.zone = machine.request.zone;
  out.market = machine.request.type.market;
  out.price_per_hour = machine.price_per_hour;
  out.state = machine.state;
  out.pool = tag(model::tag::kPool);
  out.type = tag(model::tag::kType);
  out.idle = tag(model::tag::kIdle);
  out.epoch = machine.request.epoch;
  out.remote_user = "root";
  if (machine.state == CloudState::kRunning) out.address = machine.id;
  return out;
}

bool Cloud::lists_are_empty() const {
  return std::ranges::any_of(model_.empty_lists, [&](const EmptyLists& one) {
    return since_start() >= one.from && since_start() < one.from + one.lasting;
  });
}

void Cloud::take(const dispatch::ListCall& call) {
  if (auto refused = refusal())
    return reply_(kQuick, dispatch::SetListed{call.set, time_.now(), tl::unexpected(*refused)});
  model::ListedInstances out;
  if (!lists_are_empty()) {
    out.reserve(machines_.size());
    for (const auto& [id, machine] : machines_) out.push_back(show(*machine));
  }
  reply_(kQuick, dispatch::SetListed{call.set, time_.now(), std::move(out)});
}

void Cloud::take(const dispatch::LookUpCall& call) {
  std::vector<model::ListedInstance> out;
  for (const std::string& id : call.request.ids)
    if (const Machine* machine = existing(id)) out.push_back(*show(*machine));
  reply_(kQuick,
         dispatch::InstancesLookedUp{call.set, time_.now(), call.instances, std::move(out)});
}

void Cloud::take(const dispatch::DestroyCall& call) {
  const auto ended = [&](std::optional<model::CloudError> problem) {
    reply_(kQuick, dispatch::DestroyEnded{call.instance, std::move(problem)});
  };
  if (auto refused = refusal()) return ended(std::move(refused));
  Machine* machine = existing(call.request.id);
  if (machine == nullptr) return ended(error(CloudErrorClass::kNotFound, "no such machine"));
  pay(*machine);
  machine->enter(CloudState::kTerminating);
  stop_work(*machine);
  time_.after(pick(model_.destroy, random_), [this, id = machine->id] {
    if (Machine* there = existing(id)) end(*there);
  });
  ended(std::nullopt);
}

void Cloud::take(const dispatch::TagsCall& call) {
  if (Machine* machine = existing(call.request.id)) {
    for (const auto& [key, value] : call.request.set) machine->request.tags[key] = value;
    machine->shown.reset();
  }
  reply_(kQuick, dispatch::TagsEnded{call.instance, std::nullopt});
}

void Cloud::take(const dispatch::PowerCall& call) {
  Machine* machine = existing(call.request.id);
  if (machine == nullptr)
    return reply_(kQuick, dispatch::PowerEnded{
                              call.instance, error(CloudErrorClass::kNotFound, "no such machine")});
  pay(*machine);
  if (call.on && machine->state == CloudState::kStopped) {
    boot(*machine);
  } else if (!call.on && machine->state != CloudState::kStopped) {
    stop_work(*machine);
    ++machine->boots;
    machine->enter(CloudState::kStopped);
  }
  reply_(kQuick, dispatch::PowerEnded{call.instance, std::nullopt});
}

void Cloud::take(const dispatch::PricesCall& call) {
  std::vector<model::ZonePrice> out;
  for (const PriceChange& change : model_.prices)
    if (change.type == call.type.name && change.at <= since_start())
      out.push_back({"", call.type.market, {wall_(start_ + change.at), change.per_hour}});
  reply_(kQuick, dispatch::PricesFetched{call.set, call.type.name, call.number, std::move(out)});
}

}  // namespace hostler::simulation
