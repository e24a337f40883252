#include "tests/sim/cloud.h"

#include <algorithm>
#include <cstdlib>

namespace hostler::sim {

using model::CloudError;
using model::CloudErrorClass;
using model::CloudState;

model::CloudError error(CloudErrorClass cls, std::string message, bool unknown) {
  CloudError out;
  out.cls = cls;
  out.message = std::move(message);
  out.outcome_unknown = unknown;
  return out;
}

bool Machine::works() const {
  return std::any_of(runs.begin(), runs.end(), [](const auto& r) { return r.second.running; });
}

Duration Cloud::latency() {
  return chance_.fault(0.1) ? chance_.between(1s, 30s) : chance_.between(1ms, 500ms);
}

void Cloud::open(const dispatch::OpenSet& call, bool has_console, bool has_leftovers,
                 const Reply& reply) {
  if (chance_.fault(0.2))
    return reply(latency(),
                 dispatch::SetOpened{
                     call.set, tl::unexpected(error(CloudErrorClass::kTransient, "no route"))});
  model::SetInfo info;
  info.account_id = "a1";
  info.list_consistency = kConsistency;
  info.list_interval_min = list_interval_min_;
  info.max_concurrency = 8;
  info.spot = true;
  info.create_token_native = has_tokens_;
  info.stop = info.has_power = has_power_;
  info.has_price_history = has_prices_;
  info.has_console = has_console;
  info.has_leftovers = has_leftovers;
  reply(latency(), dispatch::SetOpened{call.set, info});
}

/// Sometimes an error: the call is refused before it has an effect.
std::optional<CloudError> Cloud::refusal() {
  if (!chance_.fault(0.25)) return std::nullopt;
  create_failed_ = time_.now();  // An error of any call may shut a gate for creates.
  switch (chance_.below(7)) {
    case 6:
      return error(CloudErrorClass::kInvalid, "no such image");
    case 0:
      return error(CloudErrorClass::kCapacity, "no stock");
    case 1:
      return error(CloudErrorClass::kQuota, "quota is used up");
    case 2: {
      auto out = error(CloudErrorClass::kRateLimit, "slow down");
      out.retry_after = chance_.between(1s, 20s);
      return out;
    }
    case 3:
      return error(CloudErrorClass::kInternal, "driver bug");
    case 4:
      return error(CloudErrorClass::kAuth, "token expired");
    default:
      return error(CloudErrorClass::kTransient, "connection refused");
  }
}

void Cloud::create(const dispatch::CreateCall& call, const Reply& reply) {
  check_create(call);

  const model::InstanceId id = call.instance;
  const auto ended = [&](Duration delay, std::optional<CloudError> problem) {
    if (problem) create_failed_ = time_.now();
    reply(delay, dispatch::CreateEnded{id, std::move(problem)});
  };
  if (alive() >= quota_) {
    const auto all = std::to_string(quota_);
    return ended(latency(), error(CloudErrorClass::kQuota, all + " of " + all + " in use"));
  }
  if (auto refused = refusal()) return ended(latency(), std::move(refused));
  const auto lost = error(CloudErrorClass::kTimeout, "no answer in time", true);
  if (chance_.fault(0.05)) return ended(call.timeout, lost);  // the request is lost
  if (chance_.fault(0.05)) {                                  // executed after the caller gave up
    time_.after(call.timeout + chance_.between(0s, 60s),
                [this, request = call.request] { make(*request, false); });
    return ended(call.timeout, lost);
  }
  const bool cut_off = has_tokens_ && chance_.fault(0.05);
  const Machine& machine = make(*call.request, true, cut_off);
  if (chance_.fault(0.1)) return ended(call.timeout, lost);  // the reply is lost
  const Duration answer = latency();
  if (cut_off) {
    if (chance_.chance(0.5)) reply(answer / 2, dispatch::CreateSeen{id, show(machine)});
    return ended(answer, lost);
  }
  for (int copies = chance_.fault(0.2) ? 2 : static_cast<int>(chance_.below(2)); copies > 0;
       --copies)
    reply(chance_.between(0s, answer), dispatch::CreateSeen{id, show(machine)});
  ended(answer, std::nullopt);
}

/// Without tokens, the driver lists before it creates, and lists may not show new machines.
Machine* Cloud::made_before(const model::CreateRequest& request, bool looks_first) {
  for (Machine* machine : made_of_[request.idempotency_key]) {
    if (has_tokens_) return machine;  // also if it is gone
    const bool hidden = time_.now() - machine->created < kConsistency && chance_.fault(0.5);
    if (looks_first && machine->exists() && !hidden) return machine;
  }
  return nullptr;
}

Machine& Cloud::make(const model::CreateRequest& request, bool looks_first, bool cut_off) {
  if (Machine* before = made_before(request, looks_first)) {
    if (before->half_made && !cut_off && before->state == CloudState::kPending) {
      before->half_made = false;
      fulfil(*before);
    }
    return *before;
  }
  auto made = std::make_unique<Machine>();
  const std::string number = std::to_string(machines_.size() + 1);
  const bool spot = request.type.market == model::Market::kSpot;
  made->id = (spot ? "sir-" : "i-") + number;
  made->request = request;
  made->instance = *model::InstanceId::parse(request.host_instance_id);
  made->created = time_.now();
  made->host_key = request.ssh_host_key_public;
  made->never_boots = chance_.fault(0.07);
  made->state = spot ? CloudState::kRequested : CloudState::kPending;
  Machine& machine = *machines_.emplace_back(std::move(made));
  living_.push_back(&machine);
  auto& alike = made_of_[request.idempotency_key];
  const auto is_wanted = [](const Machine* one) {
    return one->exists() && one->state != CloudState::kTerminating;
  };
  machine.unasked = !looks_first && !alike.empty() && std::ranges::none_of(alike, is_wanted);
  if (!machine.unasked) ++asked_for_[machine.instance];
  alike.push_back(&machine);
  if (alike.size() > 1)
    for (Machine* each : alike) each->doubled = true;
  machine.half_made = cut_off && !spot;
  if (machine.half_made) {
    // Until it is repeated.
  } else if (!spot) {
    fulfil(machine);
  } else if (!chance_.fault(0.3)) {
    time_.after(chance_.between(0s, 40s), [this, &machine, number] {
      if (machine.state != CloudState::kRequested) return;
      machine.request_id = std::exchange(machine.id, "i-" + number);
      fulfil(machine);
    });
  }
  check_ceilings();
  if (alike.size() == 1) check_boots(machine);
  const bool barren = time_.now() < barren_until_ && chance_.faults();
  if (barren || chance_.fault(0.05))
    time_.after(chance_.between(0s, barren ? 2s : 1min), [this, &machine, barren] {
      if (!machine.exists() || machine.state == CloudState::kTerminating) return;
      if (!barren && chance_.chance(0.5)) return end(machine);
      machine.state = CloudState::kFailed;
      machine.lacks_stock = barren && lacks_stock_;
      for (auto& [attempt, run] : machine.runs) run.running = false;
    });
  return machine;
}

Machine* Cloud::numbered(const std::string& name) const {
  const auto number = std::strtoull(name.c_str() + name.find_last_of("-.") + 1, nullptr, 10);
  return number == 0 || number > machines_.size() ? nullptr : machines_[number - 1].get();
}

Machine* Cloud::existing(const std::string& id) const {
  Machine* machine = numbered(id);
  const bool is_its = machine != nullptr && (machine->id == id || machine->request_id == id);
  return is_its && machine->exists() ? machine : nullptr;
}

void Cloud::fulfil(Machine& machine) {
  machine.state = CloudState::kPending;
  time_.after(chance_.between(100ms, 5s), [this, &machine] {
    if (machine.state != CloudState::kPending) return;
    machine.state = CloudState::kRunning;
    machine.ready_at = time_.now() + chance_.between(1s, 40s);
  });
}

void Cloud::end(Machine& machine) {
  if (!machine.exists()) return;
  machine.state = CloudState::kGone;
  lived_ += time_.now() - machine.created;
  std::erase(living_, &machine);
  if (!machine.unasked && --asked_for_[machine.instance] == 0) asked_for_.erase(machine.instance);
  for (auto& [attempt, run] : machine.runs) run.running = false;
}

/// The least price for this create that was ever reported. The daemon may not know the latest
/// prices, so the checks use no higher one.
std::int64_t Cloud::least_price(const model::CreateRequest& request) const {
  std::int64_t least = request.type.price_per_hour.value;
  const auto& type = request.type;
  if (offerings_ != nullptr)
    if (const auto said = offerings_->least_price(type.provider_type, type.market, request.zone))
      least = std::min(least, *said);
  for (const auto& [kind, price] : least_said_)
    if (kind.first == request.type.name && (request.zone.empty() || request.zone == kind.second))
      least = std::min(least, price);
  return least;
}

model::ListedInstance Cloud::show(const Machine& machine) const {
  model::ListedInstance out;
  out.id = machine.id;
  out.request_id = machine.request_id;
  out.idempotency_key = machine.request.idempotency_key;
  out.set_id = machine.request.tags.at(model::tag::kSet);
  out.owner = machine.request.owner;
  out.zone = machine.request.zone;
  out.market = machine.request.type.market;
  out.state = machine.state;
  out.pool = machine.request.tags.at(model::tag::kPool);
  out.type = machine.request.tags.at(model::tag::kType);
  out.idle = machine.request.tags.at(model::tag::kIdle);
  out.epoch = machine.request.epoch;
  out.remote_user = "root";
  if (machine.lacks_stock) out.state_error = "no stock", out.shortage = model::Shortage{};
  if (announced_) out.interruption = announced_(machine);
  if (machine.state == CloudState::kRunning)
    out.address = "10.0.0." + machine.id.substr(machine.id.find('-') + 1);
  return out;
}

void Cloud::destroy(const dispatch::DestroyCall& call, const Reply& reply) {
  if (call.request.id.empty()) complain_("a destroy names no machine");
  Machine* found = existing(call.request.id);
  const auto ended = [&](std::optional<CloudError> problem) {
    reply(latency(), dispatch::DestroyEnded{call.instance, std::move(problem)});
  };
  if (found == nullptr) return ended(error(CloudErrorClass::kNotFound, "no such instance"));
  Machine& machine = *found;
  check_destroy(machine, call);
  forget_boot(machine, call);
  if (chance_.fault(0.15)) return ended(error(CloudErrorClass::kTransient, "try again"));
  // Cancelling a spot request that has already become an instance has no effect.
  const bool in_vain = machine.request_id == call.request.id;
  if (!in_vain) {
    machine.state = CloudState::kTerminating;
    for (auto& [attempt, run] : machine.runs) run.running = false;
    time_.after(chance_.between(100ms, 20s), [this, &machine] { end(machine); });
  }
  if (chance_.fault(0.1)) return ended(error(CloudErrorClass::kTimeout, "no answer", true));
  ended(std::nullopt);
}

void Cloud::set_tags(const dispatch::TagsCall& call, const Reply& reply) {
  Machine* machine = existing(call.request.id);
  if (machine != nullptr && machine->id == call.request.id)
    for (const auto& [key, value] : call.request.set) machine->request.tags[key] = value;
  reply(latency(), dispatch::TagsEnded{call.instance, std::nullopt});
}

void Cloud::power(const dispatch::PowerCall& call, const Reply& reply) {
  Machine* found = existing(call.request.id);
  const auto ended = [&](Duration delay, std::optional<CloudError> problem) {
    reply(delay, dispatch::PowerEnded{call.instance, std::move(problem)});
  };
  if (found == nullptr || found->id != call.request.id)
    return ended(latency(), error(CloudErrorClass::kNotFound, "no such instance"));
  Machine& machine = *found;
  check_power(machine, call);
  if (auto refused = refusal()) return ended(latency(), std::move(refused));
  const auto lost = error(CloudErrorClass::kTimeout, "no answer in time", true);
  if (chance_.fault(0.05)) return ended(call.timeout, lost);
  const bool off = machine.state == CloudState::kStopped;
  const bool on = machine.state == CloudState::kRunning || machine.state == CloudState::kPending;
  if (call.on ? !off && !on : !on && !off && machine.state != CloudState::kStopping)
    return ended(latency(), error(CloudErrorClass::kTransient, "not in this state"));
  if (call.on && off) switch_on(machine);
  if (!call.on && on) switch_off(machine);
  if (chance_.fault(0.1)) return ended(call.timeout, lost);
  ended(latency(), std::nullopt);
}

/// Prices from half to twice the menu's price, in any order, including prices reported before.
void Cloud::prices(const dispatch::PricesCall& call, const Reply& reply) {
  if (!has_prices_) complain_("a cloud without price histories is asked for one");
  if (auto refused = refusal())
    return reply(latency(), dispatch::PricesFetched{call.set, call.type.name, call.number,
                                                    tl::unexpected(std::move(*refused))});
  prices_said_.insert(call.type.name);
  std::vector<model::ZonePrice> said;
  const std::int64_t menu = call.type.price_per_hour.value;
  for (std::uint64_t n = chance_.below(4); n > 0; --n)
    said.push_back({chance_.chance(0.5) ? "z1" : "z2",
                    call.type.market,
                    {call.since + chance_.between(0s, 1min),
                     {menu / 2 + static_cast<std::int64_t>(
                                     chance_.below(static_cast<std::uint64_t>(menu * 3 / 2)))}}});
  for (const auto& one : said) {
    const std::int64_t price = one.point.per_hour.value;
    const auto [least, fresh] = least_said_.try_emplace({call.type.name, one.zone}, price);
    if (!fresh) least->second = std::min(least->second, price);
  }
  reply(latency(), dispatch::PricesFetched{call.set, call.type.name, call.number, std::move(said)});
}

void Cloud::switch_off(Machine& machine) {
  lose_power(machine);
  machine.state = CloudState::kStopping;
  time_.after(chance_.between(100ms, 20s), [&machine] {
    if (machine.state == CloudState::kStopping) machine.state = CloudState::kStopped;
  });
}

void Cloud::switch_on(Machine& machine) {
  if (chance_.fault(0.05)) return;  // accepted, but never fulfilled
  fulfil(machine);
}

void Cloud::misfortune() {
  std::vector<Machine*> running;
  for (Machine* machine : living_)
    if (machine->state == CloudState::kRunning) running.push_back(machine);
  if (running.empty()) return;
  Machine& machine = *running[chance_.below(running.size())];
  switch (chance_.below(5)) {
    case 0:
      return end(machine);
    case 1:
      machine.state = CloudState::kFailed;
      for (auto& [attempt, run] : machine.runs) run.running = false;
      return;
    case 2:
      lose_power(machine);
      machine.state = CloudState::kStopped;
      return;
    case 3:
      machine.loses_power_at_start = true;
      return;
    default:
      return lose_power(machine);
  }
}

void Cloud::take_back(Machine& machine, model::InterruptionAction action) {
  if (machine.state != CloudState::kRunning) return;
  if (action == model::InterruptionAction::kRestart) return lose_power(machine);
  if (action != model::InterruptionAction::kStop) return end(machine);
  lose_power(machine);
  machine.state = CloudState::kStopped;
}

void Cloud::lose_power(Machine& machine) {
  constexpr Duration kLogSync = 100ms;
  ++machine.boots;
  machine.last_sequence = 0;
  ++machine.connection;
  machine.ready_at = time_.now() + chance_.between(1s, 30s);
  std::erase_if(machine.runs, [&](const auto& entry) {
    return time_.now() - entry.second.began < kLogSync && chance_.chance(0.5);
  });
  for (auto& [attempt, run] : machine.runs) {
    run.lost_track = run.lost_track || run.running;
    run.running = false;
  }
}

Machine* Cloud::at(const std::string& address) {
  Machine* machine = numbered(address);
  return machine != nullptr && machine->state == CloudState::kRunning ? machine : nullptr;
}

}  // namespace hostler::sim
