#include "tests/sim/cloud.h"

/// What a cloud holds against whoever calls it.
namespace hostler::sim {
namespace {

std::pair<std::string, std::string> kind_of(const Machine& machine) {
  return {machine.request.type.name + " " + machine.request.type.image_id, machine.request.zone};
}

}  // namespace

void Cloud::check_create(const dispatch::CreateCall& call) {
  const auto* known = disk_.instance(call.instance);
  if (known == nullptr || known->record.idempotency_key != call.request->idempotency_key)
    return complain_("create of " + call.instance.text() + " without a durable intent");
  const auto [first, fresh] = asked_.try_emplace(call.request->idempotency_key, *call.request);
  if (!fresh && first->second != *call.request)
    complain_("create of " + call.instance.text() + " was sent again, but not byte for byte");
  // The daemon before may have decided it.
  if (fresh && call.request->epoch == disk_.epoch()) check_price_is_known(call.request->type.name);
}

/// Ten minutes after its start the daemon may have given up to wait for the answer; it also sleeps.
void Cloud::check_price_is_known(const std::string& type) {
  const bool has_limit = policy_.ceilings.price_per_hour_max.value > 0;
  if (has_prices_ && offerings_ == nullptr && has_limit && !prices_said_.contains(type) &&
      time_.now() < price_patience_ends_)
    complain_(type + " is bought below a price ceiling, and the cloud has not said its price");
}

void Cloud::daemon_started() {
  prices_said_.clear();
  price_patience_ends_ = time_.now() + 5min;
}

/// While no machine of a kind comes up, three may fail beside a full fleet. Then one is made after
/// 30 s, and each pause is twice as long as the one before, less a quarter at most. Two more, since
/// the daemon's clock may jump.
void Cloud::check_boots(const Machine& made) {
  Boots& boots = boots_[kind_of(made)];
  if (boots.machines.empty()) boots.first = time_.now();
  boots.machines.insert(&made);
  std::size_t most = static_cast<std::size_t>(fleet_) + 3 + 2;
  for (Duration pauses = 22s; pauses <= time_.now() - boots.first; pauses = 2 * pauses + 22s)
    ++most;
  if (boots.machines.size() > most)
    complain_(std::to_string(boots.machines.size()) + " machines of " + kind_of(made).first +
              " were made, and none came up");
}

void Cloud::came_up(const Machine& machine) { boots_.erase(kind_of(machine)); }

void Cloud::forget_boot(const Machine& machine, const dispatch::DestroyCall& call) {
  using enum model::Reason;
  const auto why = call.reason;
  if (!is_own_will(why) && why != kKilled && why != kDrained) return;
  if (const auto kind = boots_.find(kind_of(machine)); kind != boots_.end())
    kind->second.machines.erase(&machine);
}

/// The machines that count for ceilings. Of those that were made of one create, one counts: nobody
/// asked for the others. Where look-ups lie, what is being destroyed may be taken for gone a little
/// early.
std::vector<const Machine*> Cloud::counted() const {
  std::vector<const Machine*> out;
  std::set<model::InstanceId> instances;
  for (const Machine* machine : living_) {
    const auto* known = disk_.instance(machine->instance);
    const bool is_gone = known != nullptr && known->record.state == model::InstanceState::kGone;
    const bool ends_unseen =
        ids_lie_ && (is_gone || machine->state == model::CloudState::kTerminating);
    if (!machine->unasked && !ends_unseen && instances.insert(machine->instance).second)
      out.push_back(machine);
  }
  return out;
}

void Cloud::hand_over(Machine& machine, model::InstanceId instance) {
  if (!machine.unasked) {
    if (--asked_for_[machine.instance] == 0) asked_for_.erase(machine.instance);
    ++asked_for_[instance];
  }
  machine.instance = instance;
}

void Cloud::check_ceilings() {
  // A list that lies hides machines that the journal has lost.
  if (disk_.was_put_back()) return;
  const auto most = policy_.ceilings.instances_max;
  const auto price_max = policy_.ceilings.price_per_hour_max.value;
  const auto machines = counted();
  if (most > 0 && machines.size() > static_cast<std::size_t>(most))
    complain_(std::to_string(machines.size()) + " machines, ceiling " + std::to_string(most));
  if (price_max == 0) return;
  std::int64_t price = 0, booked = 0;
  for (const Machine* machine : machines) {
    price += least_price(machine->request);  // It may have fallen since.
    if (const auto* known = disk_.instance(machine->instance))
      booked += known->record.price_per_hour.value;
  }
  // Where prices change, the hosts that there are may pass it.
  const bool is_steady = !has_prices_ && offerings_ == nullptr;
  if (is_steady && booked > price_max) complain_("the books' fleet costs more than its ceiling");
  if (price > price_max) complain_("the fleet costs more than its ceiling");
}

/// Of those that were made of one create all but one have records of their own. So has one that is
/// listed after its instance was gone.
bool Cloud::may_be(const Machine& machine, model::InstanceId instance) const {
  const auto* own = disk_.instance(machine.instance);
  if (own == nullptr && disk_.was_put_back()) return true;  // The journal has lost it.
  const bool had_ended = own != nullptr && own->record.state == model::InstanceState::kGone;
  return machine.instance == instance || machine.doubled || had_ended;
}

void Cloud::check_destroy(const Machine& machine, const dispatch::DestroyCall& call) {
  if (!may_be(machine, call.instance)) complain_("destroy of another's machine");
  const auto* known = disk_.instance(call.instance);
  if (known == nullptr || known->record.state != model::InstanceState::kTerminating ||
      // A spot request may have become an instance since the call was decided.
      (known->record.provider_id != call.request.id && known->record.request_id != call.request.id))
    complain_(call.instance.text() + " is destroyed without a durable intent");
  if (machine.works() && is_own_will(call.reason))
    complain_(machine.instance.text() + " is destroyed as " + model::to_string(call.reason) +
              " while work runs");
  const std::string why = model::to_string(call.reason);
  if (machine.half_made && why == "boot_timeout" && create_failed_ <= machine.created)
    complain_(machine.instance.text() + " was half made, and its create was not repeated");
  if (known != nullptr && known->record.restored &&
      (why == "not_verified" || why == "boot_timeout" || why == "unreachable" || machine.works()) &&
      why != "killed" && why != "cloud_failed")
    complain_(machine.instance.text() + " is of a restored state, and is destroyed as " + why);
  if (machine.works() && why == "duplicate")
    complain_("of the machines of " + machine.instance.text() + " the one that works is destroyed");
}

void Cloud::check_power(const Machine& machine, const dispatch::PowerCall& call) {
  const auto* known = disk_.instance(call.instance);
  const auto meant = call.on ? model::InstanceState::kBooting : model::InstanceState::kStopped;
  if (!may_be(machine, call.instance)) complain_("power of another's machine");
  if (known == nullptr ||
      (known->record.state != meant && known->record.state != model::InstanceState::kTerminating))
    complain_(machine.instance.text() + " is switched without a durable intent");
  if (!call.on && machine.works())
    complain_(machine.instance.text() + " is switched off while work runs");
  if (!has_power_) complain_("a cloud without power is asked for it");
}

}  // namespace hostler::sim
