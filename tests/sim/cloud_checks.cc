#include "tests/sim/cloud.h"

/// What a cloud holds against whoever calls it.
namespace hostler::sim {

void Cloud::check_create(const dispatch::CreateCall& call) {
  const auto* known = disk_.instance(call.instance);
  if (known == nullptr || known->record.idempotency_key != call.request->idempotency_key)
    return complain_("create of " + call.instance.text() + " without a durable intent");
  const auto [first, fresh] = asked_.try_emplace(call.request->idempotency_key, *call.request);
  if (!fresh && first->second != *call.request)
    complain_("create of " + call.instance.text() + " was sent again, but not byte for byte");
}

/// Of those that were made of one create, one counts: nobody asked for the others. Nor for one that
/// a lost call makes when the machine of the call that came after it has been and gone.
void Cloud::check_ceilings() {
  const auto most = policy_.ceilings.instances_max;
  std::set<model::InstanceId> alive;
  for (const Machine* machine : living_) {
    // Where look-ups lie, what is being destroyed may be taken for gone a little early.
    const bool counts = !ids_lie_ || machine->state != model::CloudState::kTerminating;
    if (!machine->unasked && counts) alive.insert(machine->instance);
  }
  if (most > 0 && alive.size() > static_cast<std::size_t>(most))
    complain_(std::to_string(alive.size()) + " machines, ceiling " + std::to_string(most));
  if (policy_.ceilings.price_per_hour_max.value > 0) check_prices();
}

void Cloud::check_prices() {
  const auto price_max = policy_.ceilings.price_per_hour_max.value;
  std::int64_t price = 0, booked = 0;
  std::set<model::InstanceId> counted;
  for (const Machine* machine : living_) {
    if (machine->unasked || !counted.insert(machine->instance).second) continue;
    price += machine->price;
    if (const auto* known = disk_.instance(machine->instance))
      booked += known->record.price_per_hour.value;
  }
  if (booked > price_max) complain_("the books' fleet costs more than its ceiling");
  if (price > price_max) complain_("the fleet costs more than its ceiling");
}

void Cloud::check_destroy(const Machine& machine, const dispatch::DestroyCall& call) {
  // Of those that were made of one create all but one have records of their own.
  if (machine.instance != call.instance && !machine.doubled)
    complain_("destroy of another's machine");
  const auto* known = disk_.instance(call.instance);
  if (known == nullptr || known->record.state != model::InstanceState::kTerminating ||
      // A spot request may have become an instance since the call was decided.
      (known->record.provider_id != call.request.id && known->record.request_id != call.request.id))
    complain_(call.instance.text() + " is destroyed without a durable intent");
  if (machine.works() &&
      is_own_will(model::parse_reason(call.request.reason).value_or(model::Reason::kUnknown)))
    complain_(machine.instance.text() + " is destroyed as " + call.request.reason +
              " while work runs");
  if (machine.works() && call.request.reason == "duplicate")
    complain_("of the machines of " + machine.instance.text() + " the one that works is destroyed");
}

void Cloud::check_power(const Machine& machine, const dispatch::PowerCall& call) {
  const auto* known = disk_.instance(machine.instance);
  const auto meant = call.on ? model::InstanceState::kBooting : model::InstanceState::kStopped;
  if (machine.instance != call.instance) complain_("power of another's machine");
  if (known == nullptr ||
      (known->record.state != meant && known->record.state != model::InstanceState::kTerminating))
    complain_(machine.instance.text() + " is switched without a durable intent");
  if (!call.on && machine.works())
    complain_(machine.instance.text() + " is switched off while work runs");
  if (!has_power_) complain_("a cloud without power is asked for it");
}

}  // namespace hostler::sim
